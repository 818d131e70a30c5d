"""The nodes, one plain async function each: state in, partial state out."""
