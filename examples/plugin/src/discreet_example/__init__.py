"""Plug-ins for discreet from another distribution: copy one to start your own."""
