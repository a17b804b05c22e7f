// The shell of the README's commands: as much of it as they use, and an error for everything else.

export interface Request {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/**
 * What a `curl` command line would send.
 * @throws {Error} for a word or a flag that is not understood, so that no document can use one that is not tried.
 */
export function curl(command: string, variables: Record<string, string>): Request {
  const [program, ...rest] = words(command, variables);
  if (program !== 'curl') throw new Error(`only curl is understood, not ${program}`);
  let method: string | undefined;
  let url: string | undefined;
  const headers: Record<string, string> = {};
  const data: string[] = [];
  while (rest.length > 0) {
    const word = rest.shift() as string;
    if (word === '-X') method = required(word, rest);
    else if (word === '-d') data.push(required(word, rest));
    else if (word === '-H') {
      const [, name, value] = /^([\w-]+): (.*)$/.exec(required(word, rest)) ?? [];
      if (!name || value === undefined) throw new Error('a header must be "Name: value"');
      headers[name.toLowerCase()] = value;
    } else if (word.startsWith('-')) throw new Error(`curl ${word} is not understood`);
    else if (url) throw new Error(`two addresses: ${url} ${word}`);
    else url = word;
  }
  if (!url) throw new Error('no address');
  if (data.length > 1 || data.some((text) => text.startsWith('@')))
    throw new Error('only one -d, of text, is understood');
  if (data.length > 0) headers['content-type'] ??= 'application/x-www-form-urlencoded'; // As curl has it.
  return { method: method ?? (data.length > 0 ? 'POST' : 'GET'), url, headers, body: data[0] };
}

function required(flag: string, rest: string[]): string {
  const value = rest.shift();
  if (value === undefined) throw new Error(`curl ${flag} needs a value`);
  return value;
}

const BARE = /[^\s'"\\|&;<>()$`*?[\]{}~#!]/;

/** Splits a line into words: bare, in single quotes, in double quotes, with lines joined by a backslash. */
function words(line: string, variables: Record<string, string>): string[] {
  const found: string[] = [];
  let rest = line.replace(/\\\n/g, ' ').trim();
  while (rest !== '') {
    let word = '';
    while (rest !== '' && !/^\s/.test(rest)) {
      const single = /^'([^']*)'/.exec(rest);
      const double = /^"((?:[^"\\`])*)"/.exec(rest);
      const bare = BARE.test(rest.charAt(0)) ? rest.charAt(0) : undefined;
      if (single) word += single[1];
      else if (double) word += expand(double[1] ?? '', variables);
      else if (bare) word += bare;
      else throw new Error(`not understood: ${rest}`);
      rest = rest.slice((single ?? double)?.[0].length ?? 1);
    }
    found.push(word);
    if (/^\s*\n/.test(rest)) throw new Error('only one command in a block is understood');
    rest = rest.trimStart();
  }
  return found;
}

function expand(text: string, variables: Record<string, string>): string {
  return text.replace(/\$(\w+)?/g, (whole, name: string | undefined) => {
    const value = name === undefined ? undefined : variables[name];
    if (value === undefined) throw new Error(`${whole} has no value`);
    return value;
  });
}
