// Header fields that a tenant adds to requests, such as an API key of the receiver.

import { checkLength, checkTargetEntries, checkTargetMembers, requireMatch, TargetError } from '../target-error.ts';

const FIELDS_MAX = 16;
const VALUE_MAX_BYTES = 4096;

/** Fields that the gateway sets itself, and fields of the connection (RFC 9110, section 7.6.1). */
const RESERVED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export const headerErrors = {
  headerFieldName: {
    number: 90411,
    text: '{member} must be the name of a header field that the gateway does not set itself, in the list once.',
  },
  headerFieldValue: { number: 90412, text: '{member} must be printable ASCII without spaces at its ends.' },
  tooManyHeaderFields: { number: 90416, text: '{member} may have at most {max} header fields.' },
};

export interface TargetHeaderFieldInput {
  readonly name?: string | null;
  readonly value?: string | null;
}

export interface TargetHeaderField {
  /** In lower case. */
  name: string;
  /** The value is a secret; null when it was not given. */
  value: string | null;
}

/** Validates the fields. @throws {TargetError} for those that cannot be sent. */
export function checkHeaderFields(given: readonly TargetHeaderFieldInput[], path: string): TargetHeaderField[] {
  if (given.length > FIELDS_MAX)
    throw new TargetError(headerErrors.tooManyHeaderFields, { member: path, max: FIELDS_MAX });
  const names = new Set<string>();
  const checkName = (given: TargetHeaderFieldInput['name'], member: string) => {
    const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/; // RFC 9110, section 5.6.2.
    const name = requireMatch(given, member, token, headerErrors.headerFieldName).toLowerCase();
    if (RESERVED.has(name) || names.has(name)) throw new TargetError(headerErrors.headerFieldName, { member });
    names.add(name);
    return name;
  };
  return checkTargetEntries(given, ({ name, value }, index) =>
    checkTargetMembers({
      name: () => checkName(name, `${path}[${index}].name`),
      value: () => checkValue(value || null, `${path}[${index}].value`),
    }),
  );
}

function checkValue(value: string | null, member: string): string | null {
  if (value === null) return null;
  checkLength(value, member, VALUE_MAX_BYTES);
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  throw new TargetError(headerErrors.headerFieldValue, { member });
}
