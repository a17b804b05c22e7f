// What the types of clients read of an answer, as a text: `id token? port# active! acl* labels% certificate? { id uri }`.
// A member is a text unless it is marked: `#` a number, `!` true or false, `*` a list, `%` a map; in braces an object's members;
// `?` more: or null. Members that are not named may be there too. Who reads a member that is not there fails in Python.

interface Member {
  name: string;
  type: string;
  members?: Member[];
}

const parsed = new Map<string, Member[]>();

/** What of an answer is not as a shape says: an empty list when all is. */
export function faultsIn(value: unknown, shape: string): string[] {
  const members = parsed.get(shape) ?? parse(shape.match(/\S+/g) ?? []);
  parsed.set(shape, members);
  return faultsOf(value, members, '');
}

function parse(words: string[]): Member[] {
  const members: Member[] = [];
  for (let word = words.shift(); word !== undefined && word !== '}'; word = words.shift()) {
    if (word === '{') {
      const last = members.at(-1);
      if (last) last.members = parse(words);
    } else {
      const [, name = '', type = ''] = /^(\w+)(\W*)$/.exec(word) ?? [];
      members.push({ name, type });
    }
  }
  return members;
}

function faultsOf(value: unknown, members: Member[], at: string): string[] {
  if (typeof value !== 'object' || value === null) return [`${at || 'the answer'} is no object: ${value}`];
  return members.flatMap((member) => {
    const place = at + member.name;
    if (!(member.name in value)) return [`${place} is not there`];
    return faultsOfMember((value as Record<string, unknown>)[member.name], member, place);
  });
}

function faultsOfMember(value: unknown, { type, members }: Member, place: string): string[] {
  if (value === null) return type.includes('?') ? [] : [`${place} is null`];
  if (type.includes('*')) {
    if (!Array.isArray(value)) return [`${place} is no list`];
    return value.flatMap((item, index) =>
      members ? faultsOf(item, members, `${place}[${index}].`) : is(item, 'string', `${place}[${index}]`),
    );
  }
  if (members) return faultsOf(value, members, `${place}.`);
  const kind = ({ '#': 'number', '!': 'boolean', '%': 'object' } as const)[type.replace('?', '') as '#'] ?? 'string';
  return is(value, kind, place);
}

function is(value: unknown, kind: string, place: string): string[] {
  return typeof value === kind ? [] : [`${place} is ${JSON.stringify(value)}, no ${kind}`];
}
