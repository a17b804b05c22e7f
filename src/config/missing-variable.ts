// Variables that are nothing without others.

type Given = Readonly<Record<string, string | undefined>>;

/** What to say of a variable that is missing beside those that are given; undefined when none is. */
export function missingVariable(given: Given): string | undefined {
  return (
    halfOfPair(given, 'API_TLS_CERT', 'API_TLS_KEY') ??
    halfOfPair(given, 'ACME_EAB_KID', 'ACME_EAB_HMAC_KEY') ??
    halfOfPair(given, 'SMTP_URL', 'SMTP_FROM') ??
    halfOfPair(given, 'SSO_ISSUER', 'SSO_CLIENT_ID') ??
    whomToBelieve(given) ??
    whyAlone(given) ??
    whyUnlinked(given)
  );
}

/** What to say when one of two variables is set that are nothing without each other. */
function halfOfPair(given: Given, one: string, other: string): string | undefined {
  const missing = [one, other].filter((name) => given[name] === undefined);
  if (missing.length !== 1) return undefined;
  return `${missing[0]} must be set, too: ${one} and ${other} go together`;
}

/** What to say when headers of the PROXY protocol are to be read, and nobody is named who may send them. */
function whomToBelieve({ PROXY_PROTOCOL, TRUSTED_PROXIES }: Given): string | undefined {
  const isEmpty = (list = '') => /^[\s,]*$/.test(list);
  if (isEmpty(PROXY_PROTOCOL) || !isEmpty(TRUSTED_PROXIES)) return undefined;
  return 'TRUSTED_PROXIES must be set, too: PROXY_PROTOCOL is for connections that come from there';
}

/** What to say when limits are to be counted for several gateways, and this one has no links to others. */
function whyUnlinked({ LIMITS_URL, NODE_ADDR }: Given): string | undefined {
  if (LIMITS_URL === undefined || NODE_ADDR !== undefined) return undefined;
  return 'NODE_ADDR must be set, too: LIMITS_URL is for gateways that forward visitors to each other';
}

/** What to say when a variable is set that is about several gateways, and the database is the gateway's own. */
function whyAlone(given: Given): string | undefined {
  const name = ['NODE_ADDR', 'BUS_URL', 'DATABASE_DIRECT_URL'].find((variable) => given[variable] !== undefined);
  if (name === undefined || given.DATABASE_URL !== undefined) return undefined;
  return `DATABASE_URL must be set, too: ${name} is for gateways that share a PostgreSQL database`;
}
