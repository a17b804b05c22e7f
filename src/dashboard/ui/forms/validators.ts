// Checks that several forms share. Each tells in words what is wrong, or null. The gateway has the last word.

type Check = (value: string) => string | null;

const bytes = new TextEncoder();

/** The content of all checks at once: the first that objects speaks. */
export function all(...checks: Check[]): Check {
  return (value) => checks.reduce<string | null>((mistake, check) => mistake ?? check(value), null);
}

export function needed(what: string): Check {
  return (value) => (value.trim() === '' ? `${what} is needed.` : null);
}

/** Lengths are bytes, as the API counts them. */
export function atMost(most: number): Check {
  return (value) => {
    const length = bytes.encode(value).length;
    return length > most ? `This has ${length} bytes; at most ${most} are kept.` : null;
  };
}

export const description: Check = atMost(255);
export const metadata: Check = atMost(4096);

export const webAddress: Check = (value) => {
  const { protocol } = URL.parse(value) ?? {};
  return protocol === 'http:' || protocol === 'https:' ? null : 'This must be an http:// or https:// address.';
};
