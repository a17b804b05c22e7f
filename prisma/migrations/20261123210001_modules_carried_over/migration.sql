-- Each module keeps its settings as they are: sealed secrets are bound to their row and module, and stay so.

UPDATE "edge" SET "modules" =
  CASE WHEN "mutual_tls_enabled" IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('mutualTls', jsonb_build_object('enabled', "mutual_tls_enabled")) END ||
  CASE WHEN COALESCE("tls_termination", 'null'::jsonb) = 'null'::jsonb THEN '{}'::jsonb ELSE jsonb_build_object('tlsTermination', "tls_termination") END ||
  CASE WHEN "ip_restriction" IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('ipRestriction', jsonb_build_object('enabled', "ip_restriction")) END ||
  CASE WHEN COALESCE("traffic_policy", 'null'::jsonb) = 'null'::jsonb THEN '{}'::jsonb ELSE jsonb_build_object('trafficPolicy', "traffic_policy") END;

UPDATE "route" SET "modules" =
  CASE WHEN COALESCE("circuit_breaker", 'null'::jsonb) = 'null'::jsonb THEN '{}'::jsonb ELSE jsonb_build_object('circuitBreaker', "circuit_breaker") END ||
  CASE WHEN "ip_restriction" IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('ipRestriction', jsonb_build_object('enabled', "ip_restriction")) END ||
  CASE WHEN COALESCE("compression", 'null'::jsonb) = 'null'::jsonb THEN '{}'::jsonb ELSE jsonb_build_object('compression', "compression") END ||
  CASE WHEN COALESCE("request_headers", 'null'::jsonb) = 'null'::jsonb THEN '{}'::jsonb ELSE jsonb_build_object('requestHeaders', "request_headers") END ||
  CASE WHEN COALESCE("response_headers", 'null'::jsonb) = 'null'::jsonb THEN '{}'::jsonb ELSE jsonb_build_object('responseHeaders', "response_headers") END ||
  CASE WHEN COALESCE("webhook_verification", 'null'::jsonb) = 'null'::jsonb THEN '{}'::jsonb ELSE jsonb_build_object('webhookVerification', "webhook_verification") END ||
  CASE WHEN COALESCE("websocket_tcp_converter", 'null'::jsonb) = 'null'::jsonb THEN '{}'::jsonb ELSE jsonb_build_object('websocketTcpConverter', "websocket_tcp_converter") END ||
  CASE WHEN COALESCE("user_agent_filter", 'null'::jsonb) = 'null'::jsonb THEN '{}'::jsonb ELSE jsonb_build_object('userAgentFilter', "user_agent_filter") END ||
  CASE WHEN COALESCE("basic_auth", 'null'::jsonb) = 'null'::jsonb THEN '{}'::jsonb ELSE jsonb_build_object('basicAuth', "basic_auth") END ||
  CASE WHEN COALESCE("traffic_policy", 'null'::jsonb) = 'null'::jsonb THEN '{}'::jsonb ELSE jsonb_build_object('trafficPolicy', "traffic_policy") END;
