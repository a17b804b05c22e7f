import { ruleToLine } from './acl-rules.ts';

/** What an agent is to be told so that a credential with these rules lets it: its first rule decides. */
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

/** A word for a shell. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
