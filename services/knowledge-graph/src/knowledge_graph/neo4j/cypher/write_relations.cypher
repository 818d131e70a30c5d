UNWIND $rows AS row
MATCH (s:Entity {workspace_id: $workspace_id, id: row.source_id})
MATCH (t:Entity {workspace_id: $workspace_id, id: row.target_id})
CREATE (s)-[:RELATED {workspace_id: $workspace_id, relation_type: row.relation_type, weight: row.weight, evidence: row.evidence}]->(t)
