"""Everything that touches the machine: files, processes and clocks. No torch and no streamlit."""
