// The members of every kind of answer, as the specification's section 2 and the design have them.

const auth = 'auth { role { role_arn } creds { aws_access_key_id aws_secret_access_key } }';
const azure =
  'tenant_id client_id client_secret logs_ingestion_uri data_collection_rule_id data_collection_stream_name';
const job = 'provisioning_job { error_code msg started_at retries_at }';
const texts = 'description metadata';
const ref = '{ id uri }';

/** An event destination, with an addition to the specification in its target. */
export const destinationWith = (addition = '') =>
  `id uri created_at ${texts} format target { firehose { ${auth} delivery_stream_arn } ` +
  `kinesis { ${auth} stream_arn } cloudwatch_logs { ${auth} log_group_arn } ` +
  `datadog { api_key ddtags service ddsite } azure_logs_ingestion { ${azure} } ${addition} }`;

const source = 'type fields filter sample_rate uri';
const oauthApp = 'client_id client_secret scopes email_addresses email_domains';
const oauthApps = ['amazon', 'facebook', 'github', 'gitlab', 'google', 'linkedin', 'microsoft', 'twitch']
  .map((name) => `${name} { ${oauthApp}${name === 'github' ? ' teams organizations' : ''} }`)
  .join(' ');

/** Every name in them is a member that must be there, and there is no other. */
export const shapes = {
  credential: `id uri created_at ${texts} token acl owner_id`,
  endpoint:
    'id region created_at updated_at public_url proto hostport type metadata ' +
    `domain ${ref} tcp_addr ${ref} tunnel ${ref} edge ${ref}`,
  cloudEndpoint:
    `id uri created_at updated_at url proto hostport type name description metadata domain ${ref} bindings ` +
    'pooling_enabled traffic_policy',
  circuitBreaker: 'enabled tripped_duration rolling_window num_buckets volume_threshold error_threshold_percentage',
  mutualTls: `enabled certificate_authorities ${ref}`,
  backendModule: `enabled backend ${ref}`,
  ipRestriction: `enabled ip_policies ${ref}`,
  toggle: 'enabled',
  headers: 'enabled add remove',
  webhookVerification: 'enabled provider secret',
  upstream: 'enabled timeout host_header allow_half_close',
  userAgentFilter: 'enabled allow deny',
  basicAuth: 'enabled realm credentials { username }',
  oauth:
    `enabled provider { ${oauthApps} } options_passthrough cookie_prefix inactivity_timeout maximum_duration ` +
    'auth_check_interval',
  oidc:
    'enabled issuer client_id client_secret scopes options_passthrough cookie_prefix inactivity_timeout ' +
    'maximum_duration',
  tlsTermination: 'enabled terminate_at min_version',
  trafficPolicy: 'enabled value',
  policy: 'enabled inbound outbound',
  destination: destinationWith(),
  bot: 'id uri name active created_at',
  botRights: 'may_read_bodies',
  domain:
    `id uri created_at ${texts} domain region cname_target http_endpoint_configuration ${ref} ` +
    `https_endpoint_configuration ${ref} certificate ${ref} ` +
    'certificate_management_policy { authority private_key_type } ' +
    `certificate_management_status { renews_at ${job} } acme_challenge_cname_target`,
  agentIngress:
    `id uri created_at ${texts} domain ns_targets region_domains ` +
    'certificate_management_policy { authority private_key_type } ' +
    `certificate_management_status { renews_at ${job} }`,
  kubernetesOperator:
    `id uri created_at updated_at ${texts} principal ${ref} enabled_features region ` +
    'deployment { name namespace version cluster_name } binding { endpoint_selectors }',
  reservedAddress: `id uri created_at ${texts} addr region endpoint_configuration ${ref}`,
  apiKey: `id uri created_at ${texts} token owner_id scopes expires_at`,
  backend: `id uri created_at ${texts} labels tunnels ${ref}`,
  weightedBackend: `id uri created_at ${texts} backends`,
  failoverBackend: `id uri created_at ${texts} backends`,
  responseBackend: `id uri created_at ${texts} body headers status_code`,
  staticBackend: `id uri created_at ${texts} address tls { enabled }`,
  authority: `id uri created_at ${texts} ca_pem subject_common_name not_before not_after key_usages extended_key_usages`,
  certificate:
    `id uri created_at ${texts} certificate_pem subject_common_name subject_organization subject_organizational_unit ` +
    'subject_locality subject_province subject_country subject_alternative_names { dns_names ips } issued_at ' +
    'not_before not_after key_usages extended_key_usages private_key_type issuer_common_name serial_number',
  ipPolicy: `id uri created_at ${texts}`,
  ipPolicyRule: `id uri created_at ${texts} cidr ip_policy ${ref} action`,
  accountIpRestriction: `id uri created_at ${texts} enforced type ip_policies ${ref}`,
  vault: `id uri created_at updated_at name ${texts} created_by last_updated_by`,
  secret: `id uri created_at updated_at name ${texts} created_by ${ref} last_updated_by ${ref} vault ${ref} vault_name`,
  appUser: 'id uri identity_provider { name url } provider_user_id name email created_at last_active last_login',
  appSession:
    'id uri public_url browser_session { user_agent { raw } ip_address location { country_code latitude longitude ' +
    `lat_long_radius_km } } application_user ${ref} created_at last_active expires_at endpoint ${ref}`,
  subscription: `id uri created_at ${texts} sources { ${source} } destinations ${ref}`,
  source,
  delivery:
    'destination_id state waiting_events waiting_bytes oldest_waiting_at delivered_events dropped_events dead_letters ' +
    'attempts next_attempt_at last_delivered_at last_error { code message at } uri',
  destinationTest: 'ok event_id latency_ms error_code error_message',
  deadLetter: 'id uri created_at event_id event_type event error_code error_message',
  count: 'count',
  session: `id uri agent_version credential ${ref} ip metadata os region started_at transport`,
  tunnel:
    `id public_url started_at metadata proto region tunnel_session ${ref} endpoint ${ref} labels backends ${ref} ` +
    'forwards_to',
};

const policies = `policy { ${shapes.policy} } traffic_policy { ${shapes.trafficPolicy} }`;

const route =
  `id edge_id uri created_at match_type match ${texts} backend { ${shapes.backendModule} } ` +
  `ip_restriction { ${shapes.ipRestriction} } circuit_breaker { ${shapes.circuitBreaker} } ` +
  `compression { ${shapes.toggle} } request_headers { ${shapes.headers} } response_headers { ${shapes.headers} } ` +
  `webhook_verification { ${shapes.webhookVerification} } websocket_tcp_converter { ${shapes.toggle} } ` +
  `upstream { ${shapes.upstream} } user_agent_filter { ${shapes.userAgentFilter} } basic_auth { ${shapes.basicAuth} } ` +
  `oauth { ${shapes.oauth} } oidc { ${shapes.oidc} } ${policies}`;
const tls = `mutual_tls { ${shapes.mutualTls} } tls_termination { ${shapes.tlsTermination} }`;

export const edgeShapes = {
  route,
  httpsEdge: `id uri created_at ${texts} hostports ${tls} routes { ${route} }`,
  tcpEdge:
    `id uri created_at ${texts} hostports backend { ${shapes.backendModule} } ` +
    `ip_restriction { ${shapes.ipRestriction} } ${policies}`,
  tlsEdge:
    `id uri created_at ${texts} hostports backend { ${shapes.backendModule} } ` +
    `ip_restriction { ${shapes.ipRestriction} } ${tls} ${policies}`,
};

/** What clients written for the original service get of an endpoint. */
export const extendedEndpoint =
  `${shapes.endpoint} uri url scheme host port name description principal ${ref} bindings pooling_enabled traffic_policy ` +
  `upstream_url upstream_protocol tunnel_session ${ref}`;
