// What resources declare about themselves is complete, and does not get in each other's way.

import { expect, test } from 'vitest';
import { auditedResources, registeredResources } from '../../src/api/collections/nodes.ts';
import '../../src/api/schema.ts';

const searched = registeredResources().flatMap(({ kind, search }) => (search ? [{ kind, rank: search.rank }] : []));

test('whatever is written through the API can be searched', () => {
  const kinds = searched.map(({ kind }) => kind);
  expect(auditedResources().filter(({ kind }) => !kinds.includes(kind))).toEqual([]);
});

test('the search shows kinds in the order that its description names', () => {
  expect(searched.toSorted((a, b) => a.rank - b.rank).map(({ kind }) => kind)).toEqual([
    ...[
      'endpoint',
      'offlineEndpoint',
      'agent',
      'tunnelSession',
      'credential',
      'provisioningKey',
      'kubernetesOperator',
      'apiKey',
      'botUser',
      'user',
      'reservedDomain',
      'reservedAddress',
      'agentIngress',
    ],
    ...[
      'tlsCertificate',
      'certificateAuthority',
      'httpsEdge',
      'tlsEdge',
      'tcpEdge',
      'httpsEdgeRoute',
      'tunnelGroupBackend',
      'weightedBackend',
      'failoverBackend',
      'httpResponseBackend',
      'staticBackend',
    ],
    ...[
      'ipPolicy',
      'ipPolicyRule',
      'accountIpRestriction',
      'vault',
      'secret',
      'appUser',
      'appSession',
      'eventDestination',
      'eventSubscription',
    ],
    ...['alert', 'alertRule', 'alertChannel', 'alertSilence'],
  ]);
});

test('no two kinds share a rank of the search, a prefix of ids, a name of events or a kind', () => {
  const resources = registeredResources();
  const names: Record<string, unknown[]> = {
    ranks: searched.map(({ rank }) => rank),
    prefixes: resources.map(({ prefix }) => prefix),
    kinds: resources.map(({ kind }) => kind),
    events: auditedResources().map(({ audit }) => audit.name),
  };
  for (const [what, values] of Object.entries(names)) expect(new Set(values).size, what).toBe(values.length);
});
