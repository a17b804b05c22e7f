// What of a traffic policy is a secret, and what is shown in its place: the one list of both, for agent and gateway.

/** What is shown in place of a secret. As a secret itself it is refused. */
export const SECRET_MASK = '<secret>';

/** A member of an action's settings that is a secret: a text, or a list of texts. */
export interface SecretMember {
  readonly name: string;
  /** A member beside it that says whose secret it is: for another value, the secret has to be given again. */
  readonly of?: string;
  /** The beginning of a text that is no secret; left out: all of it is one. */
  shown?(text: string): string;
}

const none: readonly SecretMember[] = [];

/** Of "user:password", the user name and the colon. A name that is computed may have anything in it. */
const pairs: SecretMember = { name: 'credentials', shown: (text) => /^(?:(?!\$\{)[^:])*:/.exec(text)?.[0] ?? '' };

const ofSender: SecretMember = { name: 'secret', of: 'provider' };

/** The secrets of every type of action. A new type cannot do without its line: its `ActionKind` does not compile. */
const SECRETS = {
  'add-headers': none,
  'basic-auth': [pairs],
  'circuit-breaker': none,
  'close-connection': none,
  'compress-response': none,
  'custom-response': none,
  deny: none,
  'forward-internal': none,
  'jwt-validation': none,
  log: none,
  'rate-limit': none,
  redirect: none,
  'remove-headers': none,
  'restrict-ips': none,
  'set-vars': none,
  'terminate-tls': [{ name: 'server_private_key' }],
  'url-rewrite': none,
  'verify-webhook': [ofSender],
  'webhook-validation': [ofSender],
} satisfies Record<string, readonly SecretMember[]>;

/** What actions are called, by all of their names. */
export type PolicyActionType = keyof typeof SECRETS;

/** @param type of an action; one that is not known has no secrets. */
export function secretMembers(type: unknown): readonly SecretMember[] {
  return typeof type === 'string' && Object.hasOwn(SECRETS, type) ? SECRETS[type as PolicyActionType] : none;
}

/** What is shown of a secret. */
export function maskSecret({ shown }: SecretMember, text: string): string {
  return `${shown?.(text) ?? ''}${SECRET_MASK}`;
}

/** A secret where it stands in a document. */
export interface FoundSecret {
  member: SecretMember;
  /** Names and indices that lead to it from the document. */
  path: (string | number)[];
  /** A text, unless the policy is not right. */
  value: unknown;
  /** The type and the settings of its action. */
  type: string;
  settings: Record<string, unknown>;
}

/** All secrets of a parsed document, which need not be a policy that can be used. */
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
    return Array.isArray(value) ? value.map((item, i) => found(item, i)) : [found(value)];
  });
}

/** The document with a mask in place of each secret. */
export function maskPolicy<T>(document: T): T {
  const changes = findSecrets(document).map(({ member, path, value }) => ({
    path,
    value: typeof value === 'string' ? maskSecret(member, value) : SECRET_MASK,
  }));
  return withValuesAt(document, changes);
}

/** A copy of a document with other values at some paths, which must be there. */
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
