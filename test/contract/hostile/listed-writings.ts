// The operations with bodies on what edges and domains name: backends, certificates, TCP addresses, IP policies, vaults.

import { none, texts, the, writing } from '../rows/writing.ts';

const rule = { ...texts, cidr: 'string' } as const;

const response = { ...texts, body: 'string', headers: 'labels', status_code: 'int' } as const;

export const listedWritings = {
  createWeighted: writing(
    'POST /backends/weighted',
    'createWeightedBackend',
    { ...texts, backends: 'weights' },
    ({ ids }) => ({ backends: { [ids.backend]: 1 } }),
  ),
  updateWeighted: writing(
    'PATCH /backends/weighted/{id}',
    'updateWeightedBackend',
    { ...texts, backends: 'weights' },
    none,
    the('weightedBackend'),
  ),
  createFailover: writing(
    'POST /backends/failover',
    'createFailoverBackend',
    { ...texts, backends: 'ids' },
    ({ ids }) => ({ backends: [ids.backend] }),
  ),
  updateFailover: writing(
    'PATCH /backends/failover/{id}',
    'updateFailoverBackend',
    { ...texts, backends: 'ids' },
    none,
    the('failoverBackend'),
  ),
  createResponse: writing('POST /backends/http_response', 'createHttpResponseBackend', response),
  updateResponse: writing(
    'PATCH /backends/http_response/{id}',
    'updateHttpResponseBackend',
    response,
    none,
    the('responseBackend'),
  ),
  createStatic: writing(
    'POST /backends/static',
    'createStaticBackend',
    { ...texts, address: 'string', tls: 'object', 'tls.enabled': 'boolean' },
    () => ({ address: 'api.example.com:443' }),
  ),
  updateStatic: writing(
    'PATCH /backends/static/{id}',
    'updateStaticBackend',
    { ...texts, address: 'string', tls: 'object', 'tls.enabled': 'boolean' },
    none,
    the('staticBackend'),
  ),
  createAuthority: writing(
    'POST /certificate_authorities',
    'createCertificateAuthority',
    { ...texts, ca_pem: 'string' },
    ({ caPem }) => ({ ca_pem: caPem }),
  ),
  updateAuthority: writing(
    'PATCH /certificate_authorities/{id}',
    'updateCertificateAuthority',
    texts,
    none,
    the('authority'),
  ),
  createCertificate: writing(
    'POST /tls_certificates',
    'createTlsCertificate',
    { ...texts, certificate_pem: 'string', private_key_pem: 'string' },
    ({ server }) => server,
  ),
  updateCertificate: writing('PATCH /tls_certificates/{id}', 'updateTlsCertificate', texts, none, the('certificate')),
  createAddress: writing('POST /reserved_addrs', 'createReservedAddress', {
    ...texts,
    region: 'string',
    port: 'uint32',
  }),
  updateAddress: writing('PATCH /reserved_addrs/{id}', 'updateReservedAddress', texts, none, the('address')),
  createOperator: writing(
    'POST /kubernetes_operators',
    'createKubernetesOperator',
    { ...texts, enabled_features: 'strings', region: 'string', deployment: 'object', binding: 'object' },
    none,
  ),
  createIngress: writing(
    'POST /agent_ingresses',
    'createAgentIngress',
    { ...texts, domain: 'string', certificate_management_policy: 'object' },
    () => ({ domain: 'hostile.ingress.example.com' }),
  ),
  createIpPolicy: writing('POST /ip_policies', 'createIpPolicy', texts),
  updateIpPolicy: writing('PATCH /ip_policies/{id}', 'updateIpPolicy', texts, none, the('ipPolicy')),
  createIpPolicyRule: writing(
    'POST /ip_policy_rules',
    'createIpPolicyRule',
    { ...rule, ip_policy_id: 'id', action: 'string' },
    ({ ids }) => ({ ip_policy_id: ids.ipPolicy, cidr: '198.51.100.0/24', action: 'allow' }),
  ),
  createVault: writing('POST /vaults', 'createVault', { ...texts, name: 'string' }, () => ({ name: 'hostile' })),
  updateVault: writing('PATCH /vaults/{id}', 'updateVault', { ...texts, name: 'string' }, none, the('vault')),
  createSecret: writing(
    'POST /vault_secrets',
    'createSecret',
    { ...texts, name: 'string', value: 'string', vault_id: 'id', vault_name: 'string' },
    ({ ids }) => ({ vault_id: ids.vault, name: 'hostile', value: 'hidden' }),
  ),
  updateSecret: writing(
    'PATCH /vault_secrets/{id}',
    'updateSecret',
    { ...texts, name: 'string', value: 'string' },
    none,
    the('secret'),
  ),
  createIpRestriction: writing(
    'POST /ip_restrictions',
    'createAccountIpRestriction',
    { ...texts, type: 'string', enforced: 'boolean', ip_policy_ids: 'ids' },
    ({ ids }) => ({ type: 'dashboard', ip_policy_ids: [ids.ipPolicy] }),
  ),
  updateIpRestriction: writing(
    'PATCH /ip_restrictions/{id}',
    'updateAccountIpRestriction',
    { ...texts, enforced: 'boolean', ip_policy_ids: 'ids' },
    none,
    the('ipRestriction'),
  ),
  updateIpPolicyRule: writing('PATCH /ip_policy_rules/{id}', 'updateIpPolicyRule', rule, none, the('ipPolicyRule')),
};
