"""The course as a list of pages, its glossary, and how far a visit has come."""
