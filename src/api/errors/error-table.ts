// Every error a client can meet: code, number, status, text. The README's error page is printed from this table.

import { captureErrors } from './capture-errors.ts';
import { certificateErrors } from './certificate-errors.ts';
import { bad, type Code, conflict, type Row } from './error-row.ts';
import { eventErrors, sinkErrors } from './event-errors.ts';
import { requestErrors } from './request-errors.ts';
import { signInErrors } from './sign-in-errors.ts';

export type { Code };

const stranger = (number: number, text: string): Row => [number, 401, 'UNAUTHENTICATED', text];
const forbidden = (number: number, text: string): Row => [number, 403, 'FORBIDDEN', text];

export const errorTable = {
  // Who is calling.
  noApiKey: stranger(200, 'Send an API key in the header "Authorization: Bearer <API key>".'),
  unreadableAuthorization: stranger(201, 'The Authorization header must be "Bearer", a space, and an API key.'),
  notAnApiKey: stranger(202, 'The Authorization header does not contain an API key.'),
  unknownApiKey: stranger(203, 'This API key is not valid: it is unknown or revoked, or its owner is not active.'),
  authtokenAsApiKey: stranger(206, 'This is an authtoken, which only agents use. Send an API key.'),
  idAsApiKey: stranger(208, 'This is the id of an API key. Send the key itself, which was shown when it was created.'),
  adminsOnly: forbidden(1220, 'Only admins may do this.'),
  notYourOwner: forbidden(630, 'Only admins may name an owner other than themselves.'),
  notYours: forbidden(90001, 'Only admins may change objects of another owner.'),
  notYourAgent: forbidden(90372, 'Only admins and the owner of the credential of this agent may send it commands.'),

  // The request as such.
  pathNotFound: [90002, 404, 'NOT_FOUND', 'There is nothing at this path; GET / lists the collections.'],
  methodNotAllowed: bad(90003, 'This path does not take {method}; it takes {allowed}.', 405),
  missingVersion: bad(218, 'Send the header "Service-Version: 2".'),
  unsupportedVersion: bad(217, 'The Service-Version header must be 2.'),
  rateLimited: [
    226,
    429,
    'RATE_LIMITED',
    'An API key or a browser session may send {limit} requests a minute; try again in {seconds} s.',
  ],
  unsupportedContentType: bad(210, 'The body must be JSON: send "Content-Type: application/json".', 415),
  missingContentType: bad(216, 'A request with a body must say "Content-Type: application/json".', 415),
  bodyTooLarge: bad(90004, 'The body must be at most {max} bytes.', 413),
  unexpectedBody: bad(211, 'A {method} request must not have a body.'),
  unreadableBody: bad(212, 'The body could not be read: {reason}.'),
  notJson: bad(213, 'The body must be a JSON object in UTF-8: {reason}.'),
  repeatedMember: bad(90005, 'The member {culprit} occurs more than once in one object.'),
  forbiddenMember: bad(90006, 'No object may have a member {culprit}.'),
  unknownMember: bad(214, 'There is no member {culprit} here; known are: {known}.'),
  wrongValue: bad(215, 'The member {member} is not valid: {reason}.'),
  missingMember: bad(90007, 'The member {member} is required.'),
  pathMemberDiffers: bad(90350, 'The member {member} must have the same value as in the path, or be left out.'),
  memberUnavailable: bad(90351, 'The member {member} must be null or be left out: this object does not support it.'),
  headerRepeated: bad(
    90352,
    'The member {member} has the header {name} twice: the names differ in upper and lower case only.',
  ),
  unknownParameter: bad(231, 'There is no query parameter {culprit} here; known are: {known}.'),
  repeatedParameter: bad(232, 'The query parameter {culprit} must occur only once.'),
  limitNotANumber: bad(244, '{member} must be a whole number from 1 to {max}.'),
  limitOutOfRange: bad(233, '{member} must be from 1 to {max}.'),
  wrongCursor: bad(227, '{member} must be an id from this list: it begins with "{prefix}_".'),
  bothDirections: bad(90008, 'Page forwards (first, after) or backwards (last, before), not both.'),
  badIdempotencyKey: bad(90009, 'An idempotency key must be 1 to 255 printable ASCII characters.'),
  idempotencyKeyReused: conflict(90010, 'This idempotency key was used in the last 24 hours with another request.'),
  idempotencyKeyUnderWay: conflict(90086, 'The first request with this idempotency key is still running.'),
  keyedMutationAlone: bad(90011, 'An operation with an idempotencyKey must contain only that one mutation.'),
  badDocument: bad(90012, 'The GraphQL document is not valid: {reason}'),
  documentTooComplex: bad(90013, 'The GraphQL operation is too large: {reason}.'),
  tooManyIds: bad(90250, '{member} may have at most {max} ids.'),
  searchTextLength: bad(90251, '{member} must be 1 to {max} characters; spaces at its ends do not count.'),
  unknownChangeKind: bad(90252, '{member}: there is no kind {culprit}; known are: {known}.'),

  // Any resource.
  notFound: [90020, 404, 'NOT_FOUND', 'There is no {thing} with this id.'],
  moduleNotSet: [90021, 404, 'NOT_FOUND', 'The {thing} module is not set here.'],
  inUse: conflict(90022, 'The {thing} is still in use; remove what refers to it first.'),
  changedMeanwhile: conflict(90023, 'Another request changed the same thing; try again.'),
  descriptionTooLong: bad(90024, '{member} must be at most {max} bytes; this one has {actual}.'),
  metadataTooLong: bad(90025, '{member} must be at most {max} bytes; this one has {actual}.'),

  // API keys and credentials.
  keyDescriptionTooLong: bad(604, '{member} must be at most {max} bytes; this one has {actual}.'),
  keyMetadataTooLong: bad(605, '{member} must be at most {max} bytes; this one has {actual}.'),
  badAclRule: bad(
    600,
    '{member}: {reason}. A rule is "*" or "bind:" and a domain (example.com, *.example.com), an address ' +
      '(1.example.com:20000) or a label (key=value).',
  ),
  tooManyAclRules: bad(90028, '{member} may have at most {max} rules.'),
  unknownOwner: bad(90029, '{member} must be the id of an active user or bot user of this account.'),
  tooManyBinds: bad(90253, '{member} may have at most {max} entries.'),

  // Users and bot users.
  botNameMissing: bad(4109, '{member} must not be empty.'),
  botNameTooLong: bad(4110, '{member} must be at most {max} bytes; this one has {actual}.'),
  botsAdminsOnly: forbidden(4111, 'Only admins may create, change or delete bot users.'),
  botNameTaken: conflict(4112, 'Another bot user of this account has this name.'),
  badEmail: bad(90030, '{member} must be an e-mail address of at most {max} bytes.'),
  emailTaken: conflict(90031, 'Another user of this account has this e-mail address.'),
  lastAdmin: conflict(90032, 'This is the last active admin; make another user an admin first.'),

  // Reserved domains.
  domainMissing: bad(90040, '{member} must not be empty.'),
  wildcardPlace: bad(402, '{member}: a wildcard "*" may only be the whole first label, as in *.example.com.'),
  domainCharacter: bad(406, '{member} may contain only the letters a to z, digits, dots, hyphens and a leading "*.".'),
  domainUnderscore: bad(438, '{member} must not have an underscore.'),
  domainLabelEdge: bad(407, '{member}: each part must begin and end with a letter or a digit.'),
  domainEmptyLabel: bad(409, '{member} must not have an empty part (two dots in a row, or a dot at an end).'),
  domainHyphens: bad(
    410,
    '{member}: only a part that begins with "xn--" may have "--" as its third and fourth characters.',
  ),
  domainNotPublic: bad(411, '{member} must end in a public top-level domain; "{tld}" is not one.'),
  domainLabelTooLong: bad(513, '{member}: each part must be at most 63 bytes.'),
  domainTooLong: bad(514, '{member} must be at most 253 bytes.'),
  domainNotQualified: bad(448, '{member} must be a full name such as app.example.com.'),
  domainIsAddress: bad(90041, '{member} must be a name, not an IP address.'),
  domainIsSuffix: bad(
    90042,
    '{member}: "{suffix}" is a public suffix, below which names are registered; only a name below it can be reserved.',
  ),
  gatewayDomain: bad(90043, '{member}: {zone} and the names below it are for the gateway itself.'),
  domainNotIdna: bad(90044, '{member} has letters, or an "xn--" part, that IDNA does not allow in a name.'),
  domainReservedByYou: conflict(413, 'This account has already reserved this domain.'),
  domainReservedByOther: conflict(
    414,
    'This domain cannot be reserved: another account holds or serves it, or a name it would cover.',
  ),
  wildcardOverBase: bad(416, "{member}: a wildcard over the gateway's own base domain cannot be reserved."),
  baseDomain: bad(450, "{member}: the gateway's own base domain cannot be reserved; a name below it can."),
  gatewayName: bad(90370, '{member}: the gateway itself uses {domain}, so nobody else can have it.'),
  policyOnBaseDomain: bad(439, "{member} must be null for a name under the gateway's own base domain."),
  badCertificateAuthorityName: bad(435, '{member} must be "letsencrypt".'),
  badPrivateKeyType: bad(1909, '{member} must be "ecdsa" or "rsa".'),
  badRegion: bad(400, '{member} must be at most {max} bytes of letters, digits and hyphens.'),
  domainDescriptionTooLong: bad(420, '{member} must be at most {max} bytes; this one has {actual}.'),
  domainMetadataTooLong: bad(421, '{member} must be at most {max} bytes; this one has {actual}.'),
  certificateAndPolicy: bad(434, '{member}: give a certificate or a certificate management policy, not both.'),
  certificateOnBaseDomain: bad(
    440,
    "{member} must be null for a name under the gateway's own base domain, which has a certificate already.",
  ),
  unknownCertificate: bad(90045, '{member} must name a TLS certificate of this account.'),
  certificateNames: bad(90046, '{member}: the certificate does not cover {domain}, but {names}.'),
  domainInUse: conflict(446, 'The reserved domain is still used by an edge; remove it from the edge first.'),

  // Tunnel sessions.
  restartRefused: conflict(804, 'The agent does not restart: {reason}'),
  stopRefused: conflict(805, 'The agent does not stop: {reason}'),
  updateRefused: conflict(806, 'The agent does not update itself: {reason}'),
  versionTooLong: bad(90033, '{member} must be at most {max} bytes; this one has {actual}.'),

  // Edges and routes.
  hostportFormat: bad(7104, '{member} must be a reserved domain and a port, as in app.example.com:443.'),
  hostportPort: bad(7116, '{member} must have the port 443.'),
  hostportRange: bad(7112, '{member} must have a port from 1 to 65535.'),
  hostportNotReserved: bad(7117, '{member}: the domain {domain} is not reserved by this account.'),
  hostportTaken: conflict(7122, '{member}: another edge has {hostport}.'),
  hostportServed: conflict(7132, '{member}: an agent serves {domain} right now; end its tunnel first.'),
  hostportRepeated: bad(90050, '{member} occurs twice in the list.'),
  tooManyHostports: bad(7129, '{member} may have at most {max} entries.'),
  routeMatchMissing: bad(7123, '{member} is required.'),
  routeMatchFormat: bad(7131, '{member} must be a path such as /api, without a query or fragment.'),
  routeMatchTooLong: bad(7135, '{member} must be at most {max} bytes; this one has {actual}.'),
  routeMatchTaken: conflict(7126, 'Another route of this edge has the same match.'),
  tooManyRoutes: bad(7128, 'An edge may have at most {max} routes.'),

  // Modules.
  errorShareRange: bad(7011, '{member} must be from 0 to 1.'),
  trippedDurationRange: bad(7016, '{member} must be a whole number of seconds from 1 to 4294967295.'),
  rollingWindowRange: bad(7017, '{member} must be a whole number of seconds from 1 to 4294967295.'),
  numBucketsRange: bad(7018, '{member} must be a whole number from 1 to 128.'),
  authoritiesMissing: bad(90052, '{member} must name at least one certificate authority.'),
  tooManyAuthorities: bad(7075, '{member} may name at most {max} certificate authorities.'),
  unknownAuthority: bad(7072, '{member} must name a certificate authority of this account.'),
  authorityRepeated: bad(90053, '{member} occurs twice in the list.'),
  backendMissing: bad(6526, '{member} is required.'),
  unknownBackend: bad(6501, '{member} must name a backend of this account.'),
  backendInUse: conflict(6502, 'The backend is still used by an edge or a route; remove it there first.'),
  labelsMissing: bad(90054, '{member} must have at least one label.'),
  tooManyLabels: bad(6508, '{member} may have at most {max} labels.'),
  labelKeyLength: bad(6509, '{member}: a label\'s key must be 1 to {max} bytes and must not contain "=".'),
  labelValueLength: bad(6510, "{member}: a label's value must be 1 to {max} bytes."),
  sameModule: bad(90055, '{member} and {other} are two forms of the same module; send only one of them.'),
  ipPoliciesMissing: bad(7025, '{member} must name at least one IP policy.'),
  tooManyIpPolicies: bad(7013, '{member} may name at most {max} IP policies.'),
  unknownIpPolicy: bad(7007, '{member} must name an IP policy of this account.'),
  ipPolicyRepeated: bad(90056, '{member} occurs twice in the list.'),
  minVersionWrong: bad(90074, '{member} must be "1.2" or "1.3".'),
  terminateAtRefused: bad(7109, '{member} must be "edge", or left out: an HTTPS edge always ends TLS itself.'),
  clientCertificateNeedsTermination: bad(
    7062,
    'Mutual TLS needs an edge that ends TLS: set the TLS termination to terminate at "edge", or switch one of the two modules off.',
  ),
  tlsEndedTwice: bad(
    90051,
    'One edge cannot have both mutual TLS and a traffic policy that terminates TLS, because only one of them can decide which client certificates to ask for.',
  ),
  headerNameWrong: bad(
    2210,
    '{member} must name header fields of 1 to 128 characters, such as "x-device"; "{name}" is not one.',
  ),
  headerReserved: bad(
    2219,
    '{member} must not name "{name}": only the gateway or the client itself may set this header field.',
  ),
  headerValueWrong: bad(2211, '{member}: the value of "{name}" must be one line without control characters.'),
  headerValueTooLong: bad(2209, '{member}: the value of "{name}" must be at most {max} bytes.'),
  tooManyHeaders: bad(2212, '{member} may have at most {max} header fields.'),
  tooManyPatterns: bad(2218, '{member} may have at most {max} regular expressions.'),
  patternTooLong: bad(2221, '{member} must be at most {max} bytes; this one has {actual}.'),
  patternWrong: bad(2261, '{member} {reason}.'),
  providerWrong: bad(2222, '{member} {reason}.'),
  webhookSecretMissing: bad(2234, '{member} is required: the secret that the provider signs with.'),
  webhookSecretWrong: bad(2223, '{member} {reason}.'),
  webhookSecretTooLong: bad(90057, '{member} must be at most {max} bytes.'),
  realmWrong: bad(90058, '{member} must be at most {max} printable ASCII characters.'),
  credentialsCount: bad(90059, '{member} must have 1 to {max} entries, each with a user name of its own.'),
  usernameWrong: bad(2257, '{member} must be 1 to {max} bytes, without a colon and without control characters.'),
  passwordWrong: bad(2258, '{member} must be {min} to {max} characters, none of them a control character.'),
  badPolicy: bad(2236, '{member}: {problems}.'),
  secretMasked: bad(90390, '{member}: {problems}.'),

  ...requestErrors,
  ...signInErrors,
  ...certificateErrors,
  ...eventErrors,
  ...sinkErrors,
  ...captureErrors,

  // Ours.
  unavailable: [90080, 503, 'UNAVAILABLE', 'The gateway cannot reach its database right now; try again.'],
  agentUnreachable: [90081, 503, 'UNAVAILABLE', 'The agent of this session does not answer right now; try again.'],
  internal: [
    90090,
    500,
    'INTERNAL',
    'Something went wrong in the gateway. Its log has the reason under this operation id.',
  ],
} satisfies Record<string, Row>;

export type ErrorName = keyof typeof errorTable;
