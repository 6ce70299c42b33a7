"""Where rows live: encoded columns, compiled counting, keyed randomness."""
