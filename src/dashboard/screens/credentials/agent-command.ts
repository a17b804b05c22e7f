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

/** The arguments of an agent that serves a backend with these labels. */
export function labelsCommand(labels: Record<string, string>): string {
  const flags = Object.entries(labels).map(([key, value]) => `--label ${shellQuote(`${key}=${value}`)}`);
  return `labels 3000 ${flags.join(' ')}`;
}

/** Quotes a word for a POSIX shell. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The name of the downloaded certificate file. */
export const CA_FILE = 'gateway-ca.pem';

/** What a line needs to know of the gateway. */
export interface AgentGateway {
  agentAddress: string;
  needsCa: boolean;
  apiNeedsCa: boolean;
  caFile: string | null;
}

/** The lines of a shell that bring the agent to a machine. */
export interface AgentLines {
  /** Downloads it, and runs it as long as the shell does. */
  once: string;
  /** Installs it as a service. */
  service: string;
}

/**
 * @param api the origin of the gateway's API, where the agent is downloaded.
 * @param secret the variable that lets it in, as `TUNNEL_AUTHTOKEN=…`: in the environment, where `ps` does not show it.
 * @param command what the agent does, as `http 3000`.
 */
export function agentLines(
  { agentAddress, needsCa, apiNeedsCa, caFile }: AgentGateway,
  api: string,
  secret: string,
  command: string,
): AgentLines {
  const authority = shellQuote(caFile ?? CA_FILE);
  const trust = apiNeedsCa ? `--cacert ${authority} ` : '';
  const environment = [
    secret,
    ...(secret.startsWith('TUNNEL_PROVISIONING_KEY=') ? [`GATEWAY_API=${api}`] : []),
    `GATEWAY_ADDR=${agentAddress}`,
    ...(needsCa ? [`GATEWAY_CA=${authority}`] : []),
  ].join(' ');
  return {
    once: `curl -fsSO ${trust}${api}/agent/agent.js && ${environment} node agent.js ${command}`,
    service: `curl -fsS ${trust}${api}/agent/install.sh | ${secret} sh -s -- ${command}`,
  };
}
