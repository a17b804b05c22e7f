// Validators that several forms share. Each returns an error message or null. The gateway validates again.

type Validator = (value: string) => string | null;

const encoder = new TextEncoder();

/** Combines validators: the first error counts. */
export function allOf(...validators: Validator[]): Validator {
  return (value) => validators.reduce<string | null>((error, validate) => error ?? validate(value), null);
}

export function required(subject: string): Validator {
  return (value) => (value.trim() === '' ? `${subject} is needed.` : null);
}

/** The limit counts UTF-8 bytes, like the API. */
export function maxBytes(limit: number): Validator {
  return (value) => {
    const length = encoder.encode(value).length;
    return length > limit ? `This has ${length} bytes; at most ${limit} are kept.` : null;
  };
}

export const validateDescription: Validator = maxBytes(255);
export const validateMetadata: Validator = maxBytes(4096);

export const validateUrl: Validator = (value) => {
  const { protocol } = URL.parse(value) ?? {};
  return protocol === 'http:' || protocol === 'https:' ? null : 'This must be an http:// or https:// address.';
};
