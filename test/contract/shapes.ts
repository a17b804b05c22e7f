// The members of every kind of answer, as the specification's section 2 and the design have them.

const auth = 'auth { role { role_arn } creds { aws_access_key_id aws_secret_access_key } }';
const azure =
  'tenant_id client_id client_secret logs_ingestion_uri data_collection_rule_id data_collection_stream_name';
const job = 'provisioning_job { error_code msg started_at retries_at }';
const texts = 'description metadata';
const ref = '{ id uri }';

/** Every name in them is a member that must be there, and there is no other. */
export const shapes = {
  credential: `id uri created_at ${texts} token acl owner_id`,
  endpoint:
    'id region created_at updated_at public_url proto hostport type metadata ' +
    `domain ${ref} tcp_addr ${ref} tunnel ${ref} edge ${ref}`,
  circuitBreaker: 'enabled tripped_duration rolling_window num_buckets volume_threshold error_threshold_percentage',
  mutualTls: `enabled certificate_authorities ${ref}`,
  backendModule: `enabled backend ${ref}`,
  destination:
    `id uri created_at ${texts} format target { firehose { ${auth} delivery_stream_arn } ` +
    `kinesis { ${auth} stream_arn } cloudwatch_logs { ${auth} log_group_arn } ` +
    `datadog { api_key ddtags service ddsite } azure_logs_ingestion { ${azure} } }`,
  bot: 'id uri name active created_at',
  domain:
    `id uri created_at ${texts} domain region cname_target http_endpoint_configuration ${ref} ` +
    `https_endpoint_configuration ${ref} certificate ${ref} ` +
    'certificate_management_policy { authority private_key_type } ' +
    `certificate_management_status { renews_at ${job} } acme_challenge_cname_target`,
  apiKey: `id uri created_at ${texts} token owner_id`,
  backend: `id uri created_at ${texts} labels tunnels ${ref}`,
  authority: `id uri created_at ${texts} ca_pem subject_common_name not_before not_after key_usages extended_key_usages`,
  subscription: `id uri created_at ${texts} sources { type uri } destinations ${ref}`,
  source: 'type uri',
  session: `id uri agent_version credential ${ref} ip metadata os region started_at transport`,
  tunnel:
    `id public_url started_at metadata proto region tunnel_session ${ref} endpoint ${ref} labels backends ${ref} ` +
    'forwards_to',
};

const route =
  `id edge_id uri created_at match_type match ${texts} backend { ${shapes.backendModule} } ` +
  `circuit_breaker { ${shapes.circuitBreaker} }`;

export const edgeShapes = {
  route,
  httpsEdge: `id uri created_at ${texts} hostports mutual_tls { ${shapes.mutualTls} } routes { ${route} }`,
  tlsEdge: `id uri created_at ${texts} hostports backend { ${shapes.backendModule} } mutual_tls { ${shapes.mutualTls} }`,
};
