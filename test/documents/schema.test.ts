// The schema as a document: current, complete, and explained.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type GraphQLArgument,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { payloadOf } from '../../src/api/builder/payloads.ts';
import { accessOfField } from '../../src/api/builder/root-fields.ts';
import { registeredResources } from '../../src/api/collections/nodes.ts';
import { routes, schema } from '../../src/api/schema.ts';
import { root } from '../support/root.ts';

test('schema.graphql is current; `npm run schema` prints it', () => {
  const file = readFileSync(join(root, 'schema.graphql'), 'utf8');
  expect(`${printSchema(lexicographicSortSchema(schema))}\n`).toBe(file);
});

const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);

describe('GraphiQL explains', () => {
  test.each(types)('%s, and everything in it', (type) => {
    const members =
      isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
        ? Object.values(type.getFields())
        : isEnumType(type)
          ? type.getValues()
          : [];
    const explained = [
      { name: type.name, description: type.description },
      ...members.flatMap((member) => [
        { name: `${type.name}.${member.name}`, description: member.description },
        ...('args' in member ? (member.args as readonly GraphQLArgument[]) : []).map(({ name, description }) => ({
          name: `${type.name}.${member.name}(${name})`,
          description,
        })),
      ]),
    ];
    // A sentence: long enough to say something, from a capital or a quoted name to its full stop.
    const isSentence = (text: string) => text.length >= 10 && /^[\p{Lu}`"]/u.test(text) && /[.…]$/.test(text);
    expect(explained.filter(({ description }) => !isSentence(description ?? ''))).toEqual([]);
  });
});

test('each root field is about a kind of object that scopes of API keys can name, or about none', () => {
  const kinds = new Set(registeredResources().map(({ kind }) => kind));
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = roots.flatMap((type) => Object.values(type?.getFields() ?? {}));
  const kindOf = (field: (typeof fields)[number]) => {
    const access = accessOfField(field);
    return access === 'anyone' ? null : access?.kind;
  };
  const strange = fields.filter((field) => kindOf(field) !== null && !kinds.has(String(kindOf(field))));
  expect(strange.map(({ name }) => name)).toEqual([]);
});

// Caches of clients have one object for each id: what has the id of another object would take its place.
describe('who has an id is the object', () => {
  const withId = types.filter((type) => (isObjectType(type) || isInterfaceType(type)) && 'id' in type.getFields());

  test.each(withId.filter(({ name }) => name !== 'Node'))('%s is a Node', (type) => {
    expect('getInterfaces' in type ? type.getInterfaces().map(String) : []).toContain('Node');
  });
});

// Whoever shows a name reads it with the id, and not in another request.
test('beside each id of another object is the object', () => {
  /** Of what is no object of the API, and of what changed, whose object stands under the name of its kind. */
  const alone = /^(operation|node|event|notification|session|providerUser|tenant|client|key)Id$/;
  const others = ['AuditEntry.credentialId', 'ChangedObject.objectId'];
  const lonely = types.flatMap((type) => {
    if (!isObjectType(type) || /(Payload|Change)$/.test(type.name)) return [];
    const fields = type.getFields();
    const ids = Object.values(fields).filter(({ type: ofId }) => getNamedType(ofId).name === 'ID');
    const without = ids.filter(({ name }) => {
      const object = name.replace(/Id(?=s?$)/, '');
      return object !== name && !alone.test(name) && !(object in fields);
    });
    return without.map(({ name }) => `${type.name}.${name}`);
  });
  expect(lonely).toEqual(others);
});

// The stores of clients find what changed in a payload, and keep no secret that is shown once with the object.
describe('each mutation answers with a payload', () => {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});

  test('that is called after it', () => {
    const expected = mutations.map(({ name }) => `${name.charAt(0).toUpperCase()}${name.slice(1)}Payload`);
    expect(mutations.map(({ type }) => getNamedType(type).name)).toEqual(expected);
  });

  test('which may be null as a whole or, where its mutation always succeeds or fails, not at all', () => {
    expect(mutations.filter(({ type }) => isNonNullType(type)).map(({ name }) => name)).toEqual([
      'changeAcmeAccountKey',
      'replaceAcmeAccount',
      'endCertificateWaits',
    ]);
  });

  test('and no object has what only a payload shows', () => {
    const once = mutations.flatMap((mutation) => {
      const { member = '', secrets = [] } = payloadOf(mutation) ?? {};
      const payload = getNamedType(mutation.type);
      const object = isObjectType(payload) && payload.getFields()[member];
      const type = object && getNamedType(object.type);
      return secrets.map((secret) => ({ secret, type }));
    });
    expect(once).not.toEqual([]);
    for (const { secret, type } of once)
      expect(isObjectType(type) && Object.keys(type.getFields())).not.toContain(secret);
  });
});

/** Section 4 of the specification, but for the sample agent's own API. */
const documented = `
  POST /credentials 201
  GET /credentials/:id 200
  GET /credentials 200
  PATCH /credentials/:id 200
  DELETE /credentials/:id 204
  GET /endpoints 200
  GET /endpoints/:id 200
  PUT /edges/https/:edge_id/routes/:id/circuit_breaker 200
  GET /edges/https/:edge_id/routes/:id/circuit_breaker 200
  DELETE /edges/https/:edge_id/routes/:id/circuit_breaker 204
  PUT /edges/tls/:id/mutual_tls 200
  GET /edges/tls/:id/mutual_tls 200
  DELETE /edges/tls/:id/mutual_tls 204
  POST /event_destinations 201
  GET /event_destinations/:id 200
  GET /event_destinations 200
  PATCH /event_destinations/:id 200
  DELETE /event_destinations/:id 204
  POST /bot_users 201
  POST /reserved_domains 201
`;

describe('the table of routes', () => {
  const rows = routes.map(({ method, path, status }) => `${method} ${path} ${status}`);

  test.each(documented.trim().split(/\n\s*/))('has %s', (row) => {
    expect(rows).toContain(row);
  });

  test('has each method and path once', () => {
    const places = routes.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  test('gives nothing that writes to tunnels and their sessions, but the commands to an agent', () => {
    const live = routes.filter(({ path }) => /^\/(tunnels|tunnel_sessions)\b/.test(path));
    expect(live.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`)).toEqual(
      ['restart', 'stop', 'update'].map((command) => `POST /tunnel_sessions/:id/${command}`),
    );
  });

  test('leads to every root field but those that only GraphQL has', () => {
    const reached = new Set(routes.map(({ field }) => field));
    const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
      Object.keys(type?.getFields() ?? {}),
    );
    const onlyGraphql = [
      'node',
      'nodes',
      'alert',
      'alerts',
      'openAlerts',
      'acknowledgeAlert',
      'alertRule',
      'alertRules',
      'createAlertRule',
      'updateAlertRule',
      'deleteAlertRule',
      'alertChannel',
      'alertChannels',
      'createAlertChannel',
      'updateAlertChannel',
      'deleteAlertChannel',
      'alertSilence',
      'alertSilences',
      'createAlertSilence',
      'updateAlertSilence',
      'deleteAlertSilence',
      'testAlertChannel',
      'search',
      'checkEdgeName',
      'publishEdge',
      'testEdge',
      'tryAcl',
      'checkReservedDomain',
      'retryCertificate',
      'revokeCertificate',
      'changeAcmeAccountKey',
      'signInCallback',
      'sharedSignInCallbacks',
      'endSharedSignInCallback',
      'replaceAcmeAccount',
      'endCertificateWaits',
      'gatewayCertificates',
      'certificateWarnings',
      'endpointTraffic',
      'trafficHistory',
      'endpointsByTraffic',
      'failingEndpoints',
      'endpointCounts',
      'runningCaptures',
      'anyEndpoint',
      'allEndpoints',
      'offlineEndpoint',
      'offlineEndpoints',
      'forgetOfflineEndpoint',
      'listKinds',
      'bulkJob',
      'bulkJobs',
      'startBulkJob',
      'cancelBulkJob',
      'undoBulkJob',
      'agent',
      'agents',
      'updateAgent',
      'deleteAgent',
      'fleetSummary',
      'commandAgents',
      'rotateCredential',
      'finishRotation',
      'provisioningKey',
      'provisioningKeys',
      'createProvisioningKey',
      'updateProvisioningKey',
      'revokeProvisioningKey',
      'deleteProvisioningKey',
      'endProvisionedCredentials',
      'exchangeProvisioningKey',
      'eventTypes',
      'evaluatePolicy',
      'gatewayInfo',
      'auditEntries',
      'auditEntry',
      'objectHistory',
      'viewer',
      'signInOffer',
      'beginSingleSignOn',
      'completeSingleSignOn',
      'signIn',
      'redeemSignInLink',
      'signInLinkUser',
      'signOut',
      'signOutEverywhere',
      'endBrowserSession',
      'changePassword',
      'createSignInLink',
      'passkeys',
      'beginPasskey',
      'addPasskey',
      'removePasskey',
      'removePasskeys',
      'beginPasskeySignIn',
      'completePasskeySignIn',
      'beginSecondFactor',
      'confirmSecondFactor',
      'disableSecondFactor',
      'replaceRecoveryCodes',
      'removeSecondFactor',
      'browserSessions',
      'trafficCapture',
      'requestLog',
      'loggedRequest',
      'startTrafficCapture',
      'stopTrafficCapture',
      'clearTrafficCapture',
      'capturedRequests',
      'capturedRequest',
      'replayRequest',
      'user',
      'users',
      'createUser',
      'updateUser',
      'deactivateUser',
    ];
    expect(fields.filter((name) => !reached.has(name)).sort()).toEqual(onlyGraphql.sort());
  });
});
