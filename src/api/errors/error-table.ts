// Every error a client can meet: code, number, status, text. The README's error page is printed from this table.

import { alertErrors } from './alert-errors.ts';
import { backendErrors } from './backend-errors.ts';
import { bulkErrors } from './bulk-errors.ts';
import { captureErrors } from './capture-errors.ts';
import { certificateErrors } from './certificate-errors.ts';
import { domainErrors } from './domain-errors.ts';
import { conflict, type ErrorRow, type GraphqlErrorCode, invalid } from './error-row.ts';
import { eventErrors, sinkErrors } from './event-errors.ts';
import { fleetErrors } from './fleet-errors.ts';
import { listErrors } from './list-errors.ts';
import { requestErrors } from './request-errors.ts';
import { signInErrors } from './sign-in-errors.ts';
import { vaultErrors } from './vault-errors.ts';

export type { GraphqlErrorCode as Code };

const unauthenticated = (number: number, text: string): ErrorRow => [number, 401, 'UNAUTHENTICATED', text];
const forbidden = (number: number, text: string): ErrorRow => [number, 403, 'FORBIDDEN', text];

export const errorTable = {
  // Who is calling.
  noApiKey: unauthenticated(200, 'Send an API key in the header "Authorization: Bearer <API key>".'),
  unreadableAuthorization: unauthenticated(201, 'The Authorization header must be "Bearer", a space, and an API key.'),
  notAnApiKey: unauthenticated(202, 'The Authorization header does not contain an API key.'),
  unknownApiKey: unauthenticated(
    203,
    'This API key is not valid: it is unknown or revoked, or its owner is not active.',
  ),
  authtokenAsApiKey: unauthenticated(206, 'This is an authtoken, which only agents use. Send an API key.'),
  idAsApiKey: unauthenticated(
    208,
    'This is the id of an API key. Send the key itself, which was shown when it was created.',
  ),
  apiKeyExpired: unauthenticated(90334, 'This API key has expired. Create another one.'),
  scopeMissing: forbidden(90330, 'The scopes of this API key do not allow this; it needs {scope}.'),
  badScope: invalid(
    90331,
    '{member} must be "read", or a kind of object and what is allowed with it, as in "reserved_domain:read" or "tls_edge:write", or that for one object alone: "credential:write:cr_…"; or "policy:try". Keys with scopes cannot write api_key, user and bulk_job.',
  ),
  tooManyScopes: invalid(90332, '{member} must have at most {max} entries.'),
  badExpiry: invalid(90333, '{member} must be in the future, and not later than that of the key that asks.'),
  adminsOnly: forbidden(1220, 'Only admins may do this.'),
  operatorsOnly: forbidden(90366, 'All accounts share this; only admins of the first account may do it.'),
  notYourOwner: forbidden(630, 'Only admins may name an owner other than themselves.'),
  notYours: forbidden(90001, 'Only admins may change objects of another owner.'),
  notYourAgent: forbidden(90372, 'Only admins and the owner of the credential of this agent may send it commands.'),

  // The request as such.
  pathNotFound: [90002, 404, 'NOT_FOUND', 'There is nothing at this path; GET / lists the collections.'],
  absentHere: [90353, 404, 'NOT_FOUND', '{what} do not exist in this gateway; GET /openapi.json lists what does.'],
  methodNotAllowed: invalid(90003, 'This path does not take {method}; it takes {allowed}.', 405),
  missingVersion: invalid(218, 'Send the header "Service-Version: 2".'),
  unsupportedVersion: invalid(217, 'The Service-Version header must be 2.'),
  rateLimited: [
    226,
    429,
    'RATE_LIMITED',
    'An API key or a browser session may send {limit} requests a minute; try again in {seconds} s.',
  ],
  unsupportedContentType: invalid(210, 'The body must be JSON: send "Content-Type: application/json".', 415),
  missingContentType: invalid(216, 'A request with a body must say "Content-Type: application/json".', 415),
  bodyTooLarge: invalid(90004, 'The body must be at most {max} bytes.', 413),
  unexpectedBody: invalid(211, 'A {method} request must not have a body.'),
  unreadableBody: invalid(212, 'The body could not be read: {reason}.'),
  notJson: invalid(213, 'The body must be a JSON object in UTF-8: {reason}.'),
  repeatedMember: invalid(90005, 'The member {culprit} occurs more than once in one object.'),
  forbiddenMember: invalid(90006, 'No object may have a member {culprit}.'),
  unknownMember: invalid(214, 'There is no member {culprit} here; known are: {known}.'),
  wrongValue: invalid(215, 'The member {member} is not valid: {reason}.'),
  missingMember: invalid(90007, 'The member {member} is required.'),
  pathMemberDiffers: invalid(90350, 'The member {member} must have the same value as in the path, or be left out.'),
  memberUnavailable: invalid(
    90351,
    'The member {member} must be null or be left out: this object does not support it.',
  ),
  headerRepeated: invalid(
    90352,
    'The member {member} has the header {name} twice: the names differ in upper and lower case only.',
  ),
  unknownParameter: invalid(231, 'There is no query parameter {culprit} here; known are: {known}.'),
  repeatedParameter: invalid(232, 'The query parameter {culprit} must occur only once.'),
  badIdempotencyKey: invalid(90009, 'An idempotency key must be 1 to 255 printable ASCII characters.'),
  idempotencyKeyReused: conflict(90010, 'This idempotency key was used in the last 24 hours with another request.'),
  idempotencyKeyUnderWay: conflict(90086, 'The first request with this idempotency key is still running.'),
  keyedMutationAlone: invalid(90011, 'An operation with an idempotencyKey must contain only that one mutation.'),
  badDocument: invalid(90012, 'The GraphQL document is not valid: {reason}'),
  documentTooComplex: invalid(90013, 'The GraphQL operation is too large: {reason}.'),
  tooManyIds: invalid(90250, '{member} may have at most {max} ids.'),
  unknownChangeKind: invalid(90252, '{member}: there is no kind {culprit}; known are: {known}.'),

  // Any resource.
  notFound: [90020, 404, 'NOT_FOUND', 'There is no {kind} with this id.'],
  moduleNotSet: [90021, 404, 'NOT_FOUND', 'The {kind} module is not set here.'],
  inUse: conflict(90022, 'The {kind} is still in use; remove what refers to it first.'),
  changedMeanwhile: conflict(90023, 'Another request changed the same thing; try again.'),
  descriptionTooLong: invalid(90024, '{member} must be at most {max} bytes; this one has {actual}.'),
  metadataTooLong: invalid(90025, '{member} must be at most {max} bytes; this one has {actual}.'),

  // API keys and credentials.
  keyDescriptionTooLong: invalid(604, '{member} must be at most {max} bytes; this one has {actual}.'),
  keyMetadataTooLong: invalid(605, '{member} must be at most {max} bytes; this one has {actual}.'),
  badAclRule: invalid(
    600,
    '{member}: {reason}. A rule is "*" or "bind:" and a domain (example.com, *.example.com), an address ' +
      '(1.example.com:20000) or a label (key=value).',
  ),
  tooManyAclRules: invalid(90028, '{member} may have at most {max} rules.'),
  unknownOwner: invalid(90029, '{member} must be the id of an active user or bot user of this account.'),
  tooManyBinds: invalid(90253, '{member} may have at most {max} entries.'),

  // Users and bot users.
  botNameMissing: invalid(4109, '{member} must not be empty.'),
  botNameTooLong: invalid(4110, '{member} must be at most {max} bytes; this one has {actual}.'),
  botsAdminsOnly: forbidden(4111, 'Only admins may create, change or delete bot users.'),
  botNameTaken: conflict(4112, 'Another bot user of this account has this name.'),
  badEmail: invalid(90030, '{member} must be an e-mail address of at most {max} bytes.'),
  emailTaken: conflict(90031, 'Another user of this account has this e-mail address.'),
  lastAdmin: conflict(90032, 'This is the last active admin; make another user an admin first.'),

  ...domainErrors,

  // Tunnel sessions.
  restartRefused: conflict(804, 'The agent does not restart: {reason}'),
  stopRefused: conflict(805, 'The agent does not stop: {reason}'),
  updateRefused: conflict(806, 'The agent does not update itself: {reason}'),
  versionTooLong: invalid(90033, '{member} must be at most {max} bytes; this one has {actual}.'),

  // Edges and routes.
  hostportFormat: invalid(7104, '{member} must be a reserved domain and a port, as in app.example.com:443.'),
  hostportPort: invalid(7116, '{member} must have the port 443.'),
  hostportRange: invalid(7112, '{member} must have a port from 1 to 65535.'),
  hostportNotReserved: invalid(7117, '{member}: the domain {domain} is not reserved by this account.'),
  hostportTaken: conflict(7122, '{member}: another edge has {hostport}, or a cloud endpoint.'),
  hostportServed: conflict(7132, '{member}: an agent serves {domain} right now; end its tunnel first.'),
  hostportNoAddress: invalid(
    7114,
    '{member} must be a reserved TCP address of this account, as in {host}:20000. Reserve one first (createReservedAddress, POST /reserved_addrs).',
  ),
  endpointUrl: invalid(
    90393,
    '{member} must be http://, https:// or tls:// and a name, as in https://app.example.com, or tcp:// and a reserved address with its ' +
      'port. A name that ends with .internal may have any port. Without a scheme it is https, with port 80 http, and with any other tcp.',
  ),
  endpointBinding: invalid(
    90397,
    '{member} must be "{binding}": names that end with .internal are internal, and all others are public.',
  ),
  endpointKubernetes: invalid(
    90398,
    '{member}: the gateway brings no endpoints into Kubernetes clusters. Leave "kubernetes" out, and let the cluster use the URL.',
  ),
  endpointPolicyPhase: invalid(
    90399,
    '{member} is of another protocol than before, and the traffic policy is not for it; send the policy for it along.',
  ),
  endpointServed: conflict(
    18017,
    '{member}: another endpoint serves {url}, of an agent or in the cloud; end its tunnel, or delete it.',
  ),
  endpointServedAlone: conflict(
    18016,
    '{member}: another endpoint of {url}, of an agent or in the cloud, is not pooled; end its tunnel, delete it, or let it be pooled.',
  ),
  endpointNotCloud: conflict(
    90395,
    'Only cloud endpoints are changed and deleted: this endpoint belongs to an agent or an edge.',
  ),
  hostportRepeated: invalid(90050, '{member} occurs twice in the list.'),
  tooManyHostports: invalid(7129, '{member} may have at most {max} entries.'),
  routeMatchMissing: invalid(7123, '{member} is required.'),
  routeMatchFormat: invalid(7131, '{member} must be a path such as /api, without a query or fragment.'),
  routeMatchTooLong: invalid(7135, '{member} must be at most {max} bytes; this one has {actual}.'),
  routeMatchTaken: conflict(7126, 'Another route of this edge has the same match.'),
  tooManyRoutes: invalid(7128, 'An edge may have at most {max} routes.'),

  // Modules.
  errorShareRange: invalid(7011, '{member} must be from 0 to 1.'),
  trippedDurationRange: invalid(7016, '{member} must be a whole number of seconds from 1 to 4294967295.'),
  rollingWindowRange: invalid(7017, '{member} must be a whole number of seconds from 1 to 4294967295.'),
  numBucketsRange: invalid(7018, '{member} must be a whole number from 1 to 128.'),
  authoritiesMissing: invalid(90052, '{member} must name at least one certificate authority.'),
  tooManyAuthorities: invalid(7075, '{member} may name at most {max} certificate authorities.'),
  unknownAuthority: invalid(7072, '{member} must name a certificate authority of this account.'),
  authorityRepeated: invalid(90053, '{member} occurs twice in the list.'),
  ...backendErrors,
  sameModule: invalid(90055, '{member} and {other} are two forms of the same module; send only one of them.'),
  ipPoliciesMissing: invalid(7025, '{member} must name at least one IP policy.'),
  tooManyIpPolicies: invalid(7013, '{member} may name at most {max} IP policies.'),
  unknownIpPolicy: invalid(7007, '{member} must name an IP policy of this account.'),
  ipPolicyRepeated: invalid(90056, '{member} occurs twice in the list.'),
  minVersionWrong: invalid(90074, '{member} must be "1.2" or "1.3".'),
  terminateAtRefused: invalid(7109, '{member} must be "edge", or left out: an HTTPS edge always ends TLS itself.'),
  clientCertificateNeedsTermination: invalid(
    7062,
    'Mutual TLS needs an edge that ends TLS: set the TLS termination to terminate at "edge", or switch one of the two modules off.',
  ),
  tlsEndedTwice: invalid(
    90051,
    'One edge cannot have both mutual TLS and a traffic policy that terminates TLS, because only one of them can decide which client certificates to ask for.',
  ),
  headerNameWrong: invalid(
    2210,
    '{member} must name header fields of 1 to 128 characters, such as "x-device"; "{name}" is not one.',
  ),
  headerReserved: invalid(
    2219,
    '{member} must not name "{name}": only the gateway or the client itself may set this header field.',
  ),
  headerValueWrong: invalid(2211, '{member}: the value of "{name}" must be one line without control characters.'),
  headerValueTooLong: invalid(2209, '{member}: the value of "{name}" must be at most {max} bytes.'),
  tooManyHeaders: invalid(2212, '{member} may have at most {max} header fields.'),
  tooManyPatterns: invalid(2218, '{member} may have at most {max} regular expressions.'),
  patternTooLong: invalid(2221, '{member} must be at most {max} bytes; this one has {actual}.'),
  patternWrong: invalid(2261, '{member} {reason}.'),
  providerWrong: invalid(2222, '{member} {reason}.'),
  webhookSecretMissing: invalid(2234, '{member} is required: the secret that the provider signs with.'),
  webhookSecretWrong: invalid(2223, '{member} {reason}.'),
  webhookSecretTooLong: invalid(90057, '{member} must be at most {max} bytes.'),
  realmWrong: invalid(90058, '{member} must be at most {max} printable ASCII characters.'),
  credentialsCount: invalid(90059, '{member} must have 1 to {max} entries, each with a user name of its own.'),
  usernameWrong: invalid(2257, '{member} must be 1 to {max} bytes, without a colon and without control characters.'),
  passwordWrong: invalid(2258, '{member} must be {min} to {max} characters, none of them a control character.'),
  signInSettingWrong: invalid(90423, '{member} {reason}.'),
  oauthProviderCount: invalid(90424, '{member} must have exactly one of the OAuth providers.'),
  clientSecretMissing: invalid(
    90425,
    '{member} is required: the secret that the provider has given for this client id.',
  ),
  upstreamSettingWrong: invalid(90426, '{member} {reason}.'),
  badPolicy: invalid(2236, '{member}: {problems}.'),
  secretMasked: invalid(90390, '{member}: {problems}.'),

  ...requestErrors,
  ...listErrors,
  ...signInErrors,
  ...certificateErrors,
  ...eventErrors,
  ...sinkErrors,
  ...captureErrors,
  ...alertErrors,
  ...fleetErrors,
  ...vaultErrors,
  ...bulkErrors,

  // Ours.
  unavailable: [90080, 503, 'UNAVAILABLE', 'The gateway cannot reach its database right now; try again.'],
  agentUnreachable: [90081, 503, 'UNAVAILABLE', 'The agent of this session does not answer right now; try again.'],
  internal: [
    90090,
    500,
    'INTERNAL',
    'Something went wrong in the gateway. Its log has the reason under this operation id.',
  ],
} satisfies Record<string, ErrorRow>;

export type ErrorName = keyof typeof errorTable;
