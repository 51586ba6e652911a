"""The console: pages for dealer and floor, and the API for table systems, in front of the bridges of one host."""
