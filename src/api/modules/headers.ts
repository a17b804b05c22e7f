// The modules of a route that add and remove header fields, on the way to the upstream and back.

import type { ModuleDescriptor } from '../../edge/modules/descriptor.ts';
import type { HeaderSettings } from '../../edge/modules/headers.ts';
import { requestHeadersModule, responseHeadersModule } from '../../edge/modules/headers.ts';
import { HEADER_VALUE_MAX, headerNameProblem } from '../../policy/settings/headers.ts';
import { PROBLEM } from '../../policy/settings/problems.ts';
import { storedModule } from '../../store/edges/module-rows.ts';
import { builder } from '../builder/builder.ts';
import { ApiError } from '../errors/errors.ts';
import { checkAll, checkEach } from '../errors/problems.ts';
import { httpsEdgeRoute } from './hosts.ts';
import { type ApiModule, storedUnder } from './module.ts';

/** Of `add`, and of `remove`. */
const HEADERS_MAX = 50;

const text = {
  enabled: 'Whether it acts on traffic.',
  add: 'Values by the names of header fields, as in `{ "x-site": "berlin" }`. Each is added as a line of its own.',
  remove: 'Names of header fields. They are removed before anything is added.',
};

const Headers = builder.objectRef<HeaderSettings>('Headers').implement({
  description: 'Header fields that are removed and added.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: text.enabled }),
    add: t.expose('add', { type: 'Labels', description: text.add }),
    remove: t.exposeStringList('remove', { description: text.remove }),
  }),
});

const HeadersInput = builder.inputType('HeadersInput', {
  description:
    'Header fields to remove and to add. Those that frame a message, `User-Agent`, and in requests `Host`, cannot be.',
  fields: (t) => ({
    enabled: t.boolean({ description: `${text.enabled} Default true.` }),
    add: t.field({ type: 'Labels', description: `${text.add} At most ${HEADERS_MAX}.` }),
    remove: t.stringList({ description: `${text.remove} At most ${HEADERS_MAX}.` }),
  }),
});

type Input = typeof HeadersInput.$inferInput;
type Side = 'request' | 'response';

function headersOf(
  side: Side,
  descriptor: ModuleDescriptor<HeaderSettings>,
): ApiModule<{ modules: unknown }, HeaderSettings, Input> {
  return {
    host: httpsEdgeRoute,
    ...storedUnder(descriptor),
    noun: `${side} headers`,
    type: Headers,
    input: HeadersInput,
    selection: 'enabled add remove',
    read(row) {
      const settings = storedModule(row, descriptor);
      return settings ? shown(settings) : null;
    },
    write({ enabled, add, remove }, { member }) {
      const settings = { enabled: enabled ?? true, add: add ?? {}, remove: remove ?? [] };
      checkAll({
        add: () => checkAddedHeaders(`${member}add`, settings.add, side),
        remove: () => checkNames(`${member}remove`, settings.remove, side),
      });
      return { modules: { [descriptor.key]: settings } };
    },
  };
}

/** @throws {ApiError} for header fields that are too many, cannot be sent, or are not to be set by an account. */
export function checkAddedHeaders(member: string, fields: Readonly<Record<string, string>>, side: Side): void {
  const added = Object.entries(fields);
  const names = added.map(([name]) => name);
  checkAll({
    names: () => checkNames(member, names, side),
    once: () => checkOnce(member, names),
    values: () => checkEach(added, ([name, value]) => checkValue(member, name, value)),
  });
}

function checkNames(member: string, names: string[], side: Side): void {
  if (names.length > HEADERS_MAX) throw new ApiError('tooManyHeaders', { member, max: HEADERS_MAX });
  checkEach(names, (name) => {
    const problem = headerNameProblem(name);
    if (problem?.number === PROBLEM.reserved || (side === 'request' && name.toLowerCase() === 'host'))
      throw new ApiError('headerReserved', { member, name });
    if (problem) throw new ApiError('headerNameWrong', { member, name });
  });
}

/** Names are sent as they were written, and shown in lower case: they are the same in any. */
function shown({ enabled, add, remove }: HeaderSettings): HeaderSettings {
  const added = Object.entries(add).map(([name, value]) => [name.toLowerCase(), value]);
  return { enabled, add: Object.fromEntries(added), remove: remove.map((name) => name.toLowerCase()) };
}

function checkOnce(member: string, names: readonly string[]): void {
  const known = new Set<string>();
  checkEach(names, (name) => {
    if (known.has(name.toLowerCase())) throw new ApiError('headerRepeated', { member, name });
    known.add(name.toLowerCase());
  });
}

/** A value is one line (RFC 9110, section 5.5): nothing in it may begin another. */
function checkValue(member: string, name: string, value: string): void {
  if (Buffer.byteLength(value) > HEADER_VALUE_MAX)
    throw new ApiError('headerValueTooLong', { member, name, max: HEADER_VALUE_MAX });
  if (/[^\t\P{Cc}]/u.test(value)) throw new ApiError('headerValueWrong', { member, name });
}

export const requestHeaders = headersOf('request', requestHeadersModule);
export const responseHeaders = headersOf('response', responseHeadersModule);
