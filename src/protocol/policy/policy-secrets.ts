// The secrets of a traffic policy and their masks. Agent and gateway share this one list.

/** The text shown in place of a secret. A policy whose secret is this text is refused. */
export const SECRET_MASK = '<secret>';

/** A secret member of an action's config: a string, or a list of strings. */
export interface SecretMember {
  readonly name: string;
  /** The member that names the owner of the secret. When its value changes, the secret must be sent again. */
  readonly of?: string;
  /** Returns the prefix that is not secret. Without this function, the whole text is secret. */
  visiblePrefix?(text: string): string;
}

const none: readonly SecretMember[] = [];

/**
 * Of "user:password" the user name and the colon are visible. A name with an interpolation is masked, as it may contain
 * secrets.
 */
const basicCredentials: SecretMember = {
  name: 'credentials',
  visiblePrefix: (text) => /^(?:(?!\$\{)[^:])*:/.exec(text)?.[0] ?? '',
};

const webhookSecret: SecretMember = { name: 'secret', of: 'provider' };

const clientSecret = (of: string): SecretMember => ({ name: 'client_secret', of });

/** The secrets of every action type. A new type needs its line here: without it, its `ActionKind` does not compile. */
const SECRETS = {
  'add-headers': none,
  'allow-half-close': none,
  'basic-auth': [basicCredentials],
  'circuit-breaker': none,
  'close-connection': none,
  'compress-response': none,
  'custom-response': none,
  deny: none,
  'forward-internal': none,
  'host-header': none,
  'http-request': none,
  'jwt-validation': none,
  log: none,
  oauth: [clientSecret('provider')],
  oidc: [clientSecret('issuer_url')],
  'openid-connect': [clientSecret('issuer_url')],
  'rate-limit': none,
  redirect: none,
  'remove-headers': none,
  'request-body-find-replace': none,
  'response-body-find-replace': none,
  'restrict-ips': none,
  'set-headers': none,
  'set-vars': none,
  'sse-find-replace': none,
  'terminate-tls': [{ name: 'server_private_key' }],
  'upstream-timeout': none,
  'url-rewrite': none,
  'verify-webhook': [webhookSecret],
  'webhook-validation': [webhookSecret],
} satisfies Record<string, readonly SecretMember[]>;

/** The names of all action types, including aliases. */
export type PolicyActionType = keyof typeof SECRETS;

/** The secret members of an action type. @param type an action's type; an unknown one has no secrets. */
export function secretMembers(type: unknown): readonly SecretMember[] {
  return typeof type === 'string' && Object.hasOwn(SECRETS, type) ? SECRETS[type as PolicyActionType] : none;
}

/** The text shown in place of a secret: its visible prefix and the mask. */
export function maskSecret({ visiblePrefix }: SecretMember, text: string): string {
  return `${visiblePrefix?.(text) ?? ''}${SECRET_MASK}`;
}

/** A secret and its place in a policy document. */
export interface FoundSecret {
  member: SecretMember;
  /** The keys and indices from the document's root to the secret. */
  path: (string | number)[];
  /** A string, unless the policy is malformed. */
  value: unknown;
  /** The type and the config of its action. */
  type: string;
  settings: Record<string, unknown>;
}

/** Finds all secrets of a parsed document, which need not be a valid policy. References to a vault are none. */
export function findSecrets(document: unknown): FoundSecret[] {
  return entriesOf(document).flatMap(([phase, rules]) =>
    listOf(rules).flatMap((rule, r) =>
      listOf(member(rule, 'actions')).flatMap((action, a) => secretsOf(action, [phase, r, 'actions', a, 'config'])),
    ),
  );
}

function secretsOf(action: unknown, at: (string | number)[]): FoundSecret[] {
  const [type, settings] = [member(action, 'type') as string, member(action, 'config') as Record<string, unknown>];
  return secretMembers(type).flatMap((secret) => {
    const value = member(settings, secret.name);
    if (value === undefined || value === null) return [];
    const found = (value: unknown, ...index: number[]): FoundSecret => ({
      member: secret,
      path: [...at, secret.name, ...index],
      value,
      type,
      settings,
    });
    const all = Array.isArray(value) ? value.map((item, i) => found(item, i)) : [found(value)];
    return all.filter(({ value }) => !isReference(secret, value));
  });
}

/** An interpolation that reads a secret of a vault, and nothing else. */
const REFERENCE = /^\$\{\s*secrets\.get\(\s*('[^'\\]*'|"[^"\\]*")\s*,\s*('[^'\\]*'|"[^"\\]*")\s*\)\s*\}$/;

/** Whether a text only names where its secret is, which is no secret itself. */
function isReference({ visiblePrefix }: SecretMember, text: unknown): boolean {
  return typeof text === 'string' && REFERENCE.test(text.slice(visiblePrefix?.(text).length ?? 0));
}

/** Returns the document with each secret masked. */
export function maskPolicy<T>(document: T): T {
  const changes = findSecrets(document).map(({ member, path, value }) => ({
    path,
    value: typeof value === 'string' ? maskSecret(member, value) : SECRET_MASK,
  }));
  return withValuesAt(document, changes);
}

/** Returns a copy of a document with other values at some paths. Each path must exist. */
export function withValuesAt<T>(
  document: T,
  changes: readonly { path: readonly (string | number)[]; value: unknown }[],
): T {
  const copy = structuredClone(document);
  for (const { path, value } of changes) {
    let at = copy as Record<string | number, unknown>;
    for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
    at[path.at(-1) as string | number] = value;
  }
  return copy;
}

const entriesOf = (value: unknown) => (typeof value === 'object' && value !== null ? Object.entries(value) : []);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
