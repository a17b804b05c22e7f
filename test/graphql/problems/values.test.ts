// Inputs with values that cannot be: GraphQL and REST tell of all of them in one answer, and nothing is written.

import { beforeAll, describe, expect, test } from 'vitest';
import { snakeCase } from '../../../src/api/naming.ts';
import { inputTypeOf, withGraphqlWords } from '../../support/enum-words.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
let edgeId: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  edgeId = (await account.call('POST', '/edges/https', {})).body.id;
});

const long = (bytes: number) => 'x'.repeat(bytes + 1);
const description = long(255);

interface Input {
  /** What the mutation creates: `credential` is made by `createCredential`. */
  kind: string;
  /** Of what has a REST path. */
  path?: string;
  /** With the words of REST. */
  input: Record<string, unknown>;
  /** Paths below `input`, as REST writes them, and codes, in their order. */
  problems: [member: string, code: string][];
}

const inputs: Input[] = [
  {
    kind: 'credential',
    path: '/credentials',
    input: { description, metadata: long(4096), acl: ['*', 'x', 'bind:*.example.com', 'bind:'], ownerId: 'nobody' },
    problems: [
      ['description', 'KEY_DESCRIPTION_TOO_LONG'],
      ['metadata', 'KEY_METADATA_TOO_LONG'],
      ['acl[1]', 'BAD_ACL_RULE'],
      ['acl[3]', 'BAD_ACL_RULE'],
      ['owner_id', 'UNKNOWN_OWNER'],
    ],
  },
  {
    kind: 'apiKey',
    path: '/api_keys',
    input: { description, scopes: ['read', 'x', 'user:write'], expiresAt: '2020-01-01T00:00:00Z' },
    problems: [
      ['description', 'KEY_DESCRIPTION_TOO_LONG'],
      ['expires_at', 'BAD_EXPIRY'],
      ['scopes[1]', 'BAD_SCOPE'],
      ['scopes[2]', 'BAD_SCOPE'],
    ],
  },
  {
    kind: 'ipPolicyRule',
    path: '/ip_policy_rules',
    input: { description, cidr: 'x', action: 'deny', ipPolicyId: 'ipp_none' },
    problems: [
      ['description', 'DESCRIPTION_TOO_LONG'],
      ['cidr', 'BAD_CIDR'],
      ['ip_policy_id', 'UNKNOWN_IP_POLICY_OF_RULE'],
    ],
  },
  {
    kind: 'accountIpRestriction',
    path: '/ip_restrictions',
    input: { type: 'api', ipPolicyIds: ['ipp_none', 'ipp_none2'], metadata: long(4096) },
    problems: [
      ['metadata', 'METADATA_TOO_LONG'],
      ['ip_policy_ids[0]', 'UNKNOWN_RESTRICTION_POLICY'],
      ['ip_policy_ids[1]', 'UNKNOWN_RESTRICTION_POLICY'],
    ],
  },
  {
    kind: 'reservedDomain',
    path: '/reserved_domains',
    input: { domain: 'a..example.com', description, region: '!' },
    problems: [
      ['domain', 'DOMAIN_EMPTY_LABEL'],
      ['description', 'DOMAIN_DESCRIPTION_TOO_LONG'],
      ['region', 'BAD_REGION'],
    ],
  },
  {
    kind: 'reservedDomain',
    path: '/reserved_domains',
    input: {
      domain: 'problems.example.com',
      region: '!',
      certificateManagementPolicy: { authority: 'x', privateKeyType: 'y' },
    },
    problems: [
      ['region', 'BAD_REGION'],
      ['certificate_management_policy.authority', 'BAD_CERTIFICATE_AUTHORITY_NAME'],
      ['certificate_management_policy.private_key_type', 'BAD_PRIVATE_KEY_TYPE'],
    ],
  },
  {
    kind: 'reservedAddress',
    path: '/reserved_addrs',
    input: { port: 1, region: '!', description },
    problems: [
      ['description', 'DESCRIPTION_TOO_LONG'],
      ['region', 'BAD_REGION'],
      ['port', 'ADDRESS_PORT_RANGE'],
    ],
  },
  {
    kind: 'secret',
    path: '/vault_secrets',
    input: { name: ' ', value: '', vaultName: 'none', metadata: long(4096) },
    problems: [
      ['metadata', 'METADATA_TOO_LONG'],
      ['name', 'VAULT_NAME_WRONG'],
      ['value', 'SECRET_VALUE_LENGTH'],
      ['vault_name', 'UNKNOWN_VAULT'],
    ],
  },
  {
    kind: 'httpsEdge',
    path: '/edges/https',
    input: {
      description,
      hostports: ['x', 'none.example.com:443', 'app.example.com:80'],
      mutualTls: { certificateAuthorityIds: ['ca_none'] },
      tlsTermination: { terminateAt: 'upstream', minVersion: '9' },
    },
    problems: [
      ['description', 'DESCRIPTION_TOO_LONG'],
      ['hostports[0]', 'HOSTPORT_FORMAT'],
      ['hostports[1]', 'HOSTPORT_NOT_RESERVED'],
      ['hostports[2]', 'HOSTPORT_PORT'],
      ['mutual_tls.certificate_authority_ids[0]', 'UNKNOWN_AUTHORITY'],
      ['tls_termination.terminate_at', 'TERMINATE_AT_REFUSED'],
      ['tls_termination.min_version', 'MIN_VERSION_WRONG'],
    ],
  },
  {
    kind: 'tcpEdge',
    path: '/edges/tcp',
    input: { hostports: ['x:1', 'y:2'], backend: { backendId: 'bkdtg_none' }, ipRestriction: { ipPolicyIds: [] } },
    problems: [
      ['hostports[0]', 'HOSTPORT_NO_ADDRESS'],
      ['hostports[1]', 'HOSTPORT_NO_ADDRESS'],
      ['backend.backend_id', 'UNKNOWN_BACKEND'],
      ['ip_restriction.ip_policy_ids', 'IP_POLICIES_MISSING'],
    ],
  },
  {
    kind: 'httpsEdgeRoute',
    path: '/edges/https/:edge_id/routes',
    input: {
      matchType: 'path_prefix',
      match: 'x',
      metadata: long(4096),
      backend: {},
      circuitBreaker: { numBuckets: 0, errorThresholdPercentage: 2 },
      requestHeaders: { add: { 'a b': 'x' }, remove: ['host'] },
      upstream: { timeout: 0, hostHeader: 'a b' },
      userAgentFilter: { allow: ['a', '('], deny: ['['] },
      basicAuth: { realm: 'é', credentials: [{ username: 'a:b', password: 'short' }] },
      oauth: { provider: { github: { clientId: '', scopes: ['a b'], teams: ['x', 'y/z', 'w'] } }, cookiePrefix: '!' },
      oidc: { issuer: 'x', clientId: 'c', scopes: ['a b'] },
      trafficPolicy: { value: '{' },
    },
    problems: [
      ['match', 'ROUTE_MATCH_FORMAT'],
      ['metadata', 'METADATA_TOO_LONG'],
      ['backend.backend_id', 'BACKEND_MISSING'],
      ['circuit_breaker.num_buckets', 'NUM_BUCKETS_RANGE'],
      ['circuit_breaker.error_threshold_percentage', 'ERROR_SHARE_RANGE'],
      ['request_headers.add', 'HEADER_NAME_WRONG'],
      ['request_headers.remove', 'HEADER_RESERVED'],
      ['upstream.timeout', 'UPSTREAM_SETTING_WRONG'],
      ['upstream.host_header', 'UPSTREAM_SETTING_WRONG'],
      ['user_agent_filter.allow[1]', 'PATTERN_WRONG'],
      ['user_agent_filter.deny[0]', 'PATTERN_WRONG'],
      ['basic_auth.realm', 'REALM_WRONG'],
      ['basic_auth.credentials[0].username', 'USERNAME_WRONG'],
      ['basic_auth.credentials[0].password', 'PASSWORD_WRONG'],
      ['oauth.provider.github.client_id', 'SIGN_IN_SETTING_WRONG'],
      ['oauth.provider.github.scopes[0]', 'SIGN_IN_SETTING_WRONG'],
      ['oauth.cookie_prefix', 'SIGN_IN_SETTING_WRONG'],
      ['oauth.provider.github.teams[0]', 'SIGN_IN_SETTING_WRONG'],
      ['oauth.provider.github.teams[2]', 'SIGN_IN_SETTING_WRONG'],
      ['oidc.client_secret', 'CLIENT_SECRET_MISSING'],
      ['oidc.issuer', 'SIGN_IN_SETTING_WRONG'],
      ['oidc.scopes[0]', 'SIGN_IN_SETTING_WRONG'],
      ['traffic_policy.value', 'BAD_POLICY'],
    ],
  },
  {
    kind: 'weightedBackend',
    path: '/backends/weighted',
    input: { description, backends: { bkdtg_none: -1 } },
    problems: [
      ['description', 'DESCRIPTION_TOO_LONG'],
      ['backends', 'WEIGHT_RANGE'],
      ['backends', 'UNKNOWN_MEMBER_BACKEND'],
    ],
  },
  {
    kind: 'failoverBackend',
    path: '/backends/failover',
    input: { metadata: long(4096), backends: ['bkdtg_none', 'bkdtg_other'] },
    problems: [
      ['metadata', 'METADATA_TOO_LONG'],
      ['backends[0]', 'UNKNOWN_MEMBER_BACKEND'],
      ['backends[1]', 'UNKNOWN_MEMBER_BACKEND'],
    ],
  },
  {
    kind: 'httpResponseBackend',
    path: '/backends/http_response',
    input: { statusCode: 99, body: long(32_768), headers: { 'a b': 'x' } },
    problems: [
      ['status_code', 'RESPONSE_STATUS_RANGE'],
      ['body', 'RESPONSE_BODY_TOO_LARGE'],
      ['headers', 'HEADER_NAME_WRONG'],
    ],
  },
  {
    kind: 'eventSubscription',
    path: '/event_subscriptions',
    input: {
      sources: [{ type: 'x' }, { type: 'http_request_complete.v0', fields: ['nope'], filter: '(', sampleRate: 2 }],
      destinationIds: ['ed_none'],
    },
    problems: [
      ['sources[0].type', 'UNKNOWN_EVENT_TYPE'],
      ['sources[1].fields[0]', 'UNKNOWN_FIELD'],
      ['sources[1].filter', 'BAD_FILTER'],
      ['sources[1].sample_rate', 'BAD_SAMPLE_RATE'],
      ['destination_ids[0]', 'UNKNOWN_DESTINATION'],
    ],
  },
  {
    kind: 'eventDestination',
    path: '/event_destinations',
    input: {
      metadata: long(4096),
      format: 'xml',
      target: {
        firehose: { auth: { creds: { awsAccessKeyId: '!', awsSecretAccessKey: 'a b' } }, deliveryStreamArn: 'x' },
      },
    },
    problems: [
      ['metadata', 'METADATA_TOO_LONG'],
      ['format', 'BAD_FORMAT'],
      ['target.firehose.auth.creds.aws_access_key_id', 'BAD_ACCESS_KEY_ID'],
      ['target.firehose.auth.creds.aws_secret_access_key', 'WRONG_VALUE'],
      ['target.firehose.delivery_stream_arn', 'MALFORMED_ARN'],
    ],
  },
  {
    kind: 'tlsCertificate',
    path: '/tls_certificates',
    input: { description, certificatePem: 'x', privateKeyPem: 'y' },
    problems: [
      ['description', 'DESCRIPTION_TOO_LONG'],
      ['certificate_pem', 'CERTIFICATE_MISSING'],
      ['private_key_pem', 'KEY_MISSING'],
    ],
  },
  {
    kind: 'cloudEndpoint',
    path: '/cloud_endpoints',
    input: {
      url: 'x',
      name: description,
      poolingEnabled: true,
      trafficPolicy: '{',
      metadata: long(4096),
      bindings: ['public'],
    },
    problems: [
      ['name', 'DESCRIPTION_TOO_LONG'],
      ['url', 'ENDPOINT_URL'],
      ['traffic_policy', 'BAD_POLICY'],
      ['metadata', 'METADATA_TOO_LONG'],
    ],
  },
  {
    kind: 'provisioningKey',
    input: { description, acl: ['x', 'bind:{name}.example.com'], usesMax: 0, validHours: 0, ownerId: 'nobody' },
    problems: [
      ['description', 'DESCRIPTION_TOO_LONG'],
      ['acl[0]', 'BAD_ACL_RULE'],
      ['uses_max', 'BAD_PROVISIONING_LIMIT'],
      ['valid_hours', 'BAD_PROVISIONING_LIMIT'],
      ['owner_id', 'UNKNOWN_OWNER'],
    ],
  },
  {
    kind: 'alertRule',
    input: {
      name: '',
      condition: 'ERROR_SHARE',
      threshold: 2,
      forSeconds: -1,
      selector: { addressPattern: 'a b', label: '=' },
      channelIds: ['ac_none'],
    },
    problems: [
      ['selector.address_pattern', 'ALERT_PATTERN_WRONG'],
      ['selector.label', 'ALERT_LABEL_WRONG'],
      ['name', 'ALERT_NAME_WRONG'],
      ['threshold', 'ALERT_THRESHOLD_RANGE'],
      ['for_seconds', 'ALERT_NUMBER_RANGE'],
      ['channel_ids[0]', 'UNKNOWN_ALERT_SUBJECT'],
    ],
  },
  {
    kind: 'alertChannel',
    input: { kind: 'EMAIL', name: '', url: 'https://example.com/', recipients: ['x'] },
    problems: [
      ['url', 'ALERT_CHANNEL_MEMBER'],
      ['name', 'ALERT_NAME_WRONG'],
      ['recipients', 'ALERT_RECIPIENTS_WRONG'],
    ],
  },
];

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
/** A path as GraphQL has it, as REST writes it. */
const inRest = ([, ...path]: (string | number)[]) =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}${text && '.'}${snakeCase(part)}`),
    '',
  );

/** Labels have keys of their own, which stay as they are. */
const restBody = (value: unknown, isLabels = false): unknown => {
  if (Array.isArray(value)) return value.map((item) => restBody(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      isLabels ? name : snakeCase(name),
      restBody(member, name === 'add'),
    ]),
  );
};

describe.each(inputs.map((input) => [`create${capital(input.kind)}`, input] as const))('%s', (field, given) => {
  const { kind, path, input, problems } = given;

  test('GraphQL tells of all problems, the first as if it were alone', async () => {
    const isRoute = kind === 'httpsEdgeRoute';
    const document = `mutation ($input: ${capital(field)}Input!${isRoute ? ', $edgeId: ID!' : ''}) {
      ${field}(input: $input${isRoute ? ', edgeId: $edgeId' : ''}) { __typename } }`;
    const words = withGraphqlWords(inputTypeOf(field), input);
    const { body } = await account.graphql(document, { input: words, ...(isRoute && { edgeId }) });
    expect(body.errors).toHaveLength(1);
    const [{ message, extensions }] = body.errors;
    const shown = extensions.problems.map(({ path, code }: { path: (string | number)[]; code: string }) => [
      inRest(path),
      code,
    ]);
    expect(shown).toEqual(problems);
    for (const problem of extensions.problems) expect(problem.path[0]).toBe('input');
    expect(extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
    expect(extensions.problems[0].message).toBe(message);
    expect(snakeCase(extensions.field)).toBe(problems[0]?.[0]);
  });

  if (path === undefined) return; // There is no REST path for it.
  test.each(['documented', 'extended'] as const)('REST has them in its details, in the %s dialect', async (dialect) => {
    const place = path.replace(':edge_id', edgeId);
    const { status, body } = await account.call(
      'POST',
      place,
      restBody(input),
      dialect === 'extended' ? { dialect } : {},
    );
    expect(status).toBe(400);
    const { operation_id, ...details } = body.details;
    expect(operation_id).toMatch(/^op_/);
    expect(Object.keys(details)).toEqual([...new Set(problems.map(([member]) => member))]);
    expect(body.msg).toBe(details[problems[0]?.[0] ?? '']);
  });
});

test('a text of REST that is one of a few words is refused by its own error, where GraphQL has an enum', async () => {
  const rule = { description, cidr: 'x', ip_policy_id: 'ipp_none' };
  for (const action of ['perhaps', 'DENY', '']) {
    const { status, body } = await account.call('POST', '/ip_policy_rules', { ...rule, action });
    expect([status, body.error_code, Object.keys(body.details)]).toEqual([
      400,
      'ERR_GATEWAY_1422',
      ['operation_id', 'action'],
    ]);
    expect(body.msg).toBe('action must be "allow" or "deny".');
  }
  const restriction = await account.call('POST', '/ip_restrictions', { type: 'x', ip_policy_ids: ['ipp_none'] });
  expect([restriction.status, restriction.body.error_code]).toEqual([400, 'ERR_GATEWAY_1803']);
  const { body } = await account.graphql(
    'mutation ($input: CreateIpPolicyRuleInput!) { createIpPolicyRule(input: $input) { __typename } }',
    { input: { cidr: 'x', ipPolicyId: 'ipp_none', action: 'deny' } },
  );
  const problem = {
    path: ['input', 'action'],
    code: 'WRONG_VALUE',
    message: 'The member action is not valid: it must be one of ALLOW, DENY.',
  };
  expect(body.errors[0].extensions.problems).toEqual([problem]);
});

test('nothing of all that was written', async () => {
  const lists = [
    ...['ipPolicyRules', 'accountIpRestrictions', 'reservedDomains', 'reservedAddresses', 'secrets', 'tcpEdges'],
    ...['weightedBackends', 'failoverBackends', 'httpResponseBackends', 'eventSubscriptions', 'eventDestinations'],
    ...['tlsCertificates', 'cloudEndpoints', 'provisioningKeys', 'alertRules', 'alertChannels', 'credentials'],
  ];
  const { body } = await account.graphql(
    `{ ${lists.map((list) => `${list} { totalCount }`).join(' ')} httpsEdges { nodes { routes { id } } } }`,
  );
  const { httpsEdges, ...others } = body.data;
  expect(others).toEqual(Object.fromEntries(lists.map((list) => [list, { totalCount: 0 }])));
  expect(httpsEdges.nodes).toEqual([{ routes: [] }]);
});

test('what blames no member ends the checks, and what was found before it comes first', async () => {
  const route = { match_type: 'path_prefix', match: '/', circuit_breaker: { num_buckets: 0 } };
  const nowhere = await account.call('POST', '/edges/https/edghts_none/routes', route);
  expect(nowhere).toMatchObject({ status: 404 });
  expect(Object.keys(nowhere.body.details)).toEqual(['operation_id']);
  const wrong = await account.call('POST', '/edges/https/edghts_none/routes', { ...route, match: 'x' });
  expect(wrong.status).toBe(400);
  expect(Object.keys(wrong.body.details)).toEqual(['operation_id', 'match']);
});

test('an unknown member cannot take the place of the operation id', async () => {
  const { body, headers } = await account.call('POST', '/credentials', { operation_id: 'x', colour: 1 });
  expect(body.details).toEqual({
    operation_id: headers['service-operation-id'],
    colour: expect.stringContaining('no member colour'),
  });
});

test('an input that changes tells of all problems, too', async () => {
  const { body: credential } = await account.call('POST', '/credentials', {});
  const given = { description, acl: ['x', 'y'] };
  const { body } = await account.call('PATCH', `/credentials/${credential.id}`, given);
  expect(Object.keys(body.details)).toEqual(['operation_id', 'description', 'acl[0]', 'acl[1]']);
  const module = await account.call('PUT', `/edges/https/${edgeId}/mutual_tls`, {
    certificate_authority_ids: ['ca_a', 'ca_b'],
  });
  expect(Object.keys(module.body.details)).toEqual([
    'operation_id',
    'certificate_authority_ids[0]',
    'certificate_authority_ids[1]',
  ]);
  const shown = await account.call('GET', `/credentials/${credential.id}`);
  expect(shown.body).toMatchObject({ description: '', acl: [] });
});
