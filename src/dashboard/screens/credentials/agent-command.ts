import { ruleToLine } from './acl-rules.ts';

/** The arguments of an agent that these rules allow, made from the first rule. */
export function agentCommand(acl: readonly string[]): string {
  const lines = acl.map(ruleToLine);
  const [line] = lines;
  if (!line || lines.some(({ kind }) => kind === 'everything')) return 'http 3000';
  const { kind, first, second } = line;
  if (kind === 'name') return `http 3000 --domain ${first}`;
  if (kind === 'below') return `http 3000 --domain app.${first}`;
  if (kind === 'address') return `tcp 3000 --port ${second}`;
  return `labels 3000 --label ${shellQuote(`${first === '*' ? 'app' : first}=${second === '*' ? 'web' : second}`)}`;
}

/** Quotes a word for a POSIX shell. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
