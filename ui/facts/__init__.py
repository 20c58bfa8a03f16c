"""The numbers a page's prose is filled with, each from core and written with its unit."""
