-- AlterTable
ALTER TABLE "offline_endpoint" ADD COLUMN     "endpoint_id" TEXT COLLATE "C";

-- CreateTable
CREATE TABLE "endpoint_day" (
    "endpoint_id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "requests" DOUBLE PRECISION NOT NULL,
    "bytes" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "endpoint_day_pkey" PRIMARY KEY ("endpoint_id")
);

-- With what passed in the last 24 hours. Earlier code reads the columns that it knows.
CREATE OR REPLACE VIEW "any_endpoint" AS
SELECT u.id, u.account_id, u.state, u.type, u.proto, u.public_url, u.hostport, u.metadata, u.since,
  coalesce(t.name, g.name, u.name) AS name,
  coalesce(g.description, '') AS description,
  coalesce(t.forwards_to, u.forwards_to) AS forwards_to,
  CASE WHEN u.state = 'OFFLINE' THEN NULL WHEN h.failing THEN 'FAILING' ELSE 'LIVE' END AS health,
  CASE WHEN u.type = 'CLOUD' THEN NULL ELSE u.edge_id END AS edge_id,
  a.id AS agent_id, coalesce(a.name, '') AS agent_name,
  c.id AS credential_id, coalesce(c.description, '') AS credential_description,
  p.id AS principal_id, coalesce(p.subject, '') AS principal_name,
  (u.state = 'OFFLINE' OR u.node_id IS NULL OR u.node_id IN (SELECT n.id FROM node n WHERE n.lease_until > now())
    OR EXISTS (SELECT 1 FROM tunnel_leg leg JOIN node n ON n.id = leg.node_id
      WHERE leg.tunnel_id = u.tunnel_id AND n.lease_until > now())) AS is_current,
  coalesce(d.requests, 0) AS requests_last_day, coalesce(d.bytes, 0) AS bytes_last_day
FROM (
  SELECT e.id, e.account_id, 'ONLINE'::text AS state, e.type::text AS type, e.proto, e.public_url, e.hostport, e.metadata,
    e.created_at AS since, ''::text AS name, ''::text AS forwards_to, e.node_id, e.tunnel_id, e.edge_id,
    NULL::text COLLATE "C" AS agent_id, NULL::text COLLATE "C" AS credential_id, e.id AS endpoint_id
  FROM endpoint e
  UNION ALL
  SELECT o.id, o.account_id, 'OFFLINE'::text, 'EPHEMERAL'::text, o.proto, o.public_url, o.hostport, o.metadata, o.offline_at,
    o.name, o.forwards_to, NULL::text COLLATE "C", NULL::text COLLATE "C", NULL::text COLLATE "C", o.agent_id, o.credential_id,
    o.endpoint_id
  FROM offline_endpoint o
) u
LEFT JOIN tunnel t ON t.id = u.tunnel_id
LEFT JOIN tunnel_session s ON s.id = t.session_id
LEFT JOIN edge g ON g.id = u.edge_id
LEFT JOIN endpoint_health h ON h.endpoint_id = u.id
LEFT JOIN endpoint_day d ON d.endpoint_id = u.endpoint_id
LEFT JOIN agent a ON a.id = coalesce(s.agent_id, u.agent_id)
LEFT JOIN credential c ON c.id = coalesce(s.credential_id, u.credential_id)
LEFT JOIN owner p ON p.id = c.owner_id;
