// Every root field of the schema as an operation that can be run, and the places in it where an id can stand. What is
// not understood here fails: nothing is left out in silence.

import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { accessOfField } from '../../src/api/builder/root-fields.ts';
import { schema } from '../../src/api/schema.ts';
import { creationInput, type Holder, kinds } from './sample-resources.ts';

export type Field = GraphQLField<unknown, unknown>;

/** Where in the arguments of an operation something of an account can be named. */
export interface Place {
  /** The argument, and the members of it that lead there. */
  path: string[];
  /** Whether there is a list of them. */
  isList: boolean;
  role: 'id' | 'cursor' | 'hostport';
  /** What it can be the id of. */
  kinds: string[];
}

const fieldsOf = (type: 'Query' | 'Mutation' | 'Subscription') =>
  Object.values((schema.getType(type) as { getFields(): Record<string, Field> } | undefined)?.getFields() ?? {}).sort(
    (a, b) => (a.name < b.name ? -1 : 1), // One may leave what the next one needs: the order is always the same.
  );

export const queries = fieldsOf('Query');
export const mutations = fieldsOf('Mutation');
export const subscriptions = fieldsOf('Subscription');
export const fieldNamed = (name: string) => [...queries, ...mutations].find((field) => field.name === name) as Field;

/** Whether strangers may use a field, too; what they get of it, the tests of signing in prove. */
export const allowsAnonymous = (field: Field) => accessOfField(field) === 'anyone';

/** What ids of other names than `id` are ids of. */
const named: Record<string, string[]> = {
  ownerId: ['user', 'botUser'],
  actorId: ['user', 'botUser'],
  objectId: ['credential'],
  edgeId: ['httpsEdge'],
  subscriptionId: ['eventSubscription'],
  backendId: ['tunnelGroupBackend'],
  backends: ['tunnelGroupBackend'],
  certificateAuthorityIds: ['certificateAuthority'],
  destinationIds: ['eventDestination'],
  destinationId: ['eventDestination'],
  certificateId: ['tlsCertificate'],
  ipPolicyId: ['ipPolicy'],
  vaultId: ['vault'],
  ipPolicyIds: ['ipPolicy'],
  userId: ['user'],
  credentialId: ['credential'],
  endpointId: ['servedEndpoint'],
  storedIn: ['httpsEdgeRoute', 'tlsEdge', 'tcpEdge', 'endpoint'],
  domainId: ['reservedDomain'],
  ruleId: ['alertRule'],
  channelIds: ['alertChannel'],
  credentialIds: ['credential'],
  certificateIds: ['tlsCertificate'],
  kubernetesOperatorId: ['kubernetesOperator'],
};

/** Operations on things that are no objects of the database, or are not in their name, and what their `id` and `after` are of. */
const ofMemory: Record<string, string> = {
  auditEntries: 'auditEntry',
  auditEntry: 'auditEntry',
  objectHistory: 'auditEntry',
  capturedRequest: 'capturedRequest',
  capturedRequests: 'capturedRequest',
  endBrowserSession: 'browserSession',
  endProvisionedCredentials: 'provisioningKey',
  finishRotation: 'credential',
  removePasskey: 'passkey',
  replayRequest: 'capturedRequest',
  requestLog: 'loggedRequest',
  loggedRequest: 'loggedRequest',
  retryCertificate: 'reservedDomain',
  testEdge: 'httpsEdge',
  revokeCertificate: 'reservedDomain',
  vaultSecrets: 'secret',
  kubernetesOperatorBoundEndpoints: 'endpoint',
};

/**
 * Texts that name nothing of any account, by their names and with a text that is right. Names of domains are no
 * secret: whoever reserves one that is taken is told so, as with any registrar.
 */
const texts: Record<string, string> = Object.fromEntries(
  [
    'description metadata format name email caPem match type idempotencyKey acl domain region authority',
    'privateKeyType certificateManagementPolicy roleArn awsAccessKeyId awsSecretAccessKey deliveryStreamArn streamArn',
    'logGroupArn apiKey ddtags service ddsite tenantId clientId clientSecret logsIngestionUri dataCollectionRuleId',
    'dataCollectionStreamName version certificatePem privateKeyPem cidr action remove allow deny provider secret realm',
    'token current username password minVersion expressions value url method body clientIp policy signingSecret fields filter',
    'text kind kinds binds redactHeaders path bodyBase64 compression endpoint from to addressPattern recipients note',
    'code reason label toVersion provisioningKey deviceId hostName order search list removeLabels host vaultName port attempt query credential',
    'urls issuer scopes cookiePrefix hostHeader emailAddresses emailDomains teams organizations trafficPolicy',
    'enabledFeatures namespace clusterName endpointSelectors csr',
  ]
    .flatMap((line) => line.split(' '))
    .map((name) => [name, 'text']),
);
Object.assign(texts, {
  type: 'bot_user_deleted.v0',
  match: '/sample',
  address: 'api.example.com:443',
  csr: '',
  endpointSelectors: '',
});

/** Inputs, most of them of modules, that need more than ids, by the end of the operation's name. */
const moduleInputs: Record<string, object> = {
  WebhookVerification: { provider: 'github', secret: 'sample' },
  BasicAuth: { credentials: [{ username: 'sample', password: 'long enough' }] },
  Oauth: { provider: { github: { clientId: 'sample', clientSecret: 'sample' } } },
  Oidc: { issuer: 'https://id.example.com', clientId: 'sample', clientSecret: 'sample' },
  TrafficPolicy: { value: '{}' },
  commandAgents: { command: 'RESTART', label: 'nobody=has this' },
  startBulkJob: { list: 'credentials', action: 'CHANGE_OWNER', filter: 'false' },
};

/** What an operation is about, from its name: `replaceTlsEdgeMutualTls` is about a TLS edge. */
export function subjectOf({ name }: Field): string | undefined {
  const withoutVerb = name.replace(/^[a-z]+(?=[A-Z])/, '');
  if (/^cloudEndpoint/.test(name) || /^CloudEndpoint/.test(withoutVerb)) return 'endpoint';
  const words = [name, withoutVerb.charAt(0).toLowerCase() + withoutVerb.slice(1)];
  const fitting = words.map((word) =>
    kinds.filter((kind) => word.startsWith(kind.replace(/y$/, ''))).sort((a, b) => b.length - a.length),
  );
  return fitting.flat()[0];
}

/** Every place of an operation. @throws {Error} for an argument or member of which it is not known what it may name. */
export function placesOf(field: Field): Place[] {
  return field.args.filter(({ name }) => !choosing.has(name)).flatMap(({ name, type }) => places(field, type, [name]));
}

/** They choose among the rows of a list, which are the account's own: what else they name is found nowhere there. */
const choosing = new Set(['where', 'filterVariables', 'orderBy']);

function places(field: Field, type: GraphQLInputType, path: string[]): Place[] {
  const inner = getNamedType(type);
  const isList = isListType(getNullableType(type));
  const name = path.at(-1) ?? '';
  const where = `${field.name}(${path.join('.')})`;
  if (isInputObjectType(inner))
    return Object.values(inner.getFields()).flatMap((member) => places(field, member.type, [...path, member.name]));
  if (name === 'hostports') return [{ path, isList, role: 'hostport', kinds: [] }];
  const isCursor = name === 'after' || name === 'before';
  if (inner.name === 'ID' || isCursor) {
    const subject = ofMemory[field.name] ?? subjectOf(field);
    const possible =
      named[name] ??
      (field.name === 'node' || field.name === 'nodes' || (field.name === 'objectHistory' && name === 'id')
        ? kinds
        : subject && (isCursor || name === 'id' || name === 'ids')
          ? [subject]
          : []);
    if (possible.length === 0) throw new Error(`${where}: say in operations.ts what this is the id of`);
    return [{ path, isList, role: isCursor ? 'cursor' : 'id', kinds: possible }];
  }
  if (inner.name === 'String' && !(name in texts))
    throw new Error(`${where}: say in operations.ts whether this text can name a thing of an account`);
  if (
    !isEnumType(inner) &&
    !['String', 'Int', 'Float', 'Boolean', 'UInt32', 'Timestamp', 'Labels', 'Weights', 'Json'].includes(inner.name)
  )
    throw new Error(`${where}: say in operations.ts what a ${inner.name} can name`);
  return [];
}

/**
 * Arguments with which an account runs an operation on its own things: what is required, the ids that a module needs,
 * and everything for a creation.
 */
export function argumentsOf(field: Field, holder: Holder): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, type } of field.args) {
    const module = Object.keys(moduleInputs).find((suffix) => field.name.endsWith(suffix));
    const input = name === 'input' ? (creationInput(field.name, holder) ?? moduleInputs[module ?? '']) : undefined;
    const value = input ?? valueFor(field, type, [name], holder);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function valueFor(field: Field, type: GraphQLInputType, path: string[], holder: Holder): unknown {
  const inner = getNamedType(type);
  const name = path.at(-1) ?? '';
  const [place] = isInputObjectType(inner) ? [] : places(field, type, path);
  const isOfModule = field.name.startsWith('replace');
  if (!isNonNullType(type) && !(isOfModule && place?.role === 'id')) return undefined;
  if (isInputObjectType(inner)) {
    const members = Object.values(inner.getFields()).map(
      (member) => [member.name, valueFor(field, member.type, [...path, member.name], holder)] as const,
    );
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }
  const leaf = place ? holder.ids[place.kinds[0] ?? ''] : isEnumType(inner) ? inner.getValues()[0]?.name : texts[name];
  return place?.isList ? [leaf] : leaf;
}

/** The same arguments with something else in one place. */
export function changed(
  values: Record<string, unknown>,
  [name = '', ...rest]: string[],
  value: unknown,
): Record<string, unknown> {
  const inner = (values[name] ?? {}) as Record<string, unknown>;
  return { ...values, [name]: rest.length === 0 ? value : changed(inner, rest, value) };
}
