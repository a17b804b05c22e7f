// Parses the command line into a command.

import { parseArgs } from 'node:util';
import type { Labels, Protocol } from '../gateway-client.ts';
import { readForwardsTo } from './forwards-to.ts';
import { readLabels } from './labels.ts';

/** A command for one tunnel, for as long as the process runs. */
export interface TunnelCommand {
  does: 'tunnel';
  protocol: Protocol;
  forwardsTo: string;
  domain: string | null;
  policyFile: string | null;
}

/** A command for one tunnel with labels, for edges. */
export interface LabelsCommand {
  does: 'labels';
  labels: Labels;
  forwardsTo: string;
}

/** A parsed command line. */
export type Command =
  | { does: 'help' }
  | { does: 'version' }
  | { does: 'start' }
  | { does: 'diagnose' }
  | TunnelCommand
  | LabelsCommand;

/** The arguments are no valid command; the message says what is expected. */
export class UsageError extends Error {}

export const HELP = `Usage: tunnel-agent <command>

  start                     the local API, and the tunnels that were made through it
  http PORT|HOST:PORT       one tunnel, for as long as this runs; its URL is printed
  https PORT|HOST:PORT      the same with an https:// URL
  tls PORT|HOST:PORT        the same with a tls:// URL: the program itself does TLS
  tcp PORT|HOST:PORT        the same with a tcp:// URL
  labels PORT|HOST:PORT     one tunnel without a URL, for the edges that choose it by its labels
  diagnose                  what is between this machine and the gateway

  --domain NAME             the name to serve (http, https, tls); otherwise the gateway chooses one
  --port N                  the public port to serve (tcp); otherwise the gateway chooses one
  --policy FILE             the traffic policy, in JSON or YAML (default: AGENT_POLICY_FILE, otherwise none)
  --label KEY=VALUE         a label of the tunnel (labels); needed once, and may be given again for others
  --help, --version

A program that speaks TLS is named by a URL: https://HOST:PORT.

Environment:
  TUNNEL_AUTHTOKEN          the authtoken of the credential to use; required
  GATEWAY_ADDR              the gateway's agent listener (127.0.0.1:4443); or several, separated by commas
  LEGS                      how many gateways to be connected to at once, 1 to 4 (2 where there are two addresses)
  GATEWAY_CA                a file with the certificates to trust, in PEM (those that Node trusts)
  AGENT_FORWARDS_TO         where tunnels may lead: CIDRs and hosts, separated by commas (loopback)
  AGENT_POLICY_FILE         the policy of tunnels that are made without one (one that comes with the agent)
  AGENT_API_ADDR            where the local API listens (127.0.0.1:8000)
  AGENT_API_TOKEN           what requests to it must carry: Authorization: Bearer <token> (nothing)
  AGENT_DOMAIN              the name that the local API is published under (not published)
  AGENT_STATE_FILE          where tunnels are kept (tunnels.json)
  LOG_LEVEL, LOG_FORMAT     silent|fatal|error|warn|info|debug|trace (info), json|text (json); logs go to standard error
`;

const PROTOCOLS: readonly string[] = ['http', 'https', 'tcp', 'tls'];

/** Parses the arguments. @throws {UsageError} when they are no valid command. */
export function readCommand(args: string[]): Command {
  const { values, positionals } = parse(args);
  if (values.help) return { does: 'help' };
  if (values.version) return { does: 'version' };
  const [name, target, ...rest] = positionals;
  if (name === undefined) throw new UsageError('No command is given.');
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is one argument too many.`);
  const { domain, port, policy, label = [] } = values;
  const allowOptions = (...options: string[]) => {
    const unexpected = Object.keys(values).find((option) => !options.includes(option));
    if (unexpected !== undefined) throw new UsageError(`--${unexpected} is not for "${name}".`);
  };
  if (isProtocol(name)) {
    if (port !== undefined && name !== 'tcp')
      throw new UsageError('--port is for tcp; a name is asked for by --domain.');
    if (domain !== undefined && name === 'tcp') throw new UsageError('--domain is not for tcp; use --port.');
    allowOptions('domain', 'port', 'policy');
    return {
      does: 'tunnel',
      protocol: name,
      forwardsTo: readTarget(name, target),
      domain: port === undefined ? (domain ?? null) : `:${readPort(port)}`,
      policyFile: policy ?? null,
    };
  }
  if (name === 'labels') {
    allowOptions('label');
    return { does: 'labels', forwardsTo: readTarget(name, target), labels: readLabelsOf(name, label) };
  }
  if (name !== 'start' && name !== 'diagnose') throw new UsageError(`There is no command "${name}".`);
  if (target !== undefined) throw new UsageError(`"${name}" takes no argument.`);
  allowOptions();
  return { does: name };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
        domain: { type: 'string' },
        port: { type: 'string' },
        policy: { type: 'string' },
        label: { type: 'string', multiple: true },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readTarget(name: string, text: string | undefined): string {
  if (text === undefined) throw new UsageError(`"${name}" needs a port to forward to, as in: ${name} 3000`);
  try {
    return readForwardsTo(/^\d+$/.test(text) ? `127.0.0.1:${text}` : text).text;
  } catch (error) {
    throw new UsageError(`"${text}" ${(error as Error).message}; a port alone is one of this machine.`);
  }
}

function readLabelsOf(name: string, texts: string[]): Labels {
  try {
    return readLabels(texts);
  } catch (error) {
    throw new UsageError(`"${name}" ${(error as Error).message}`);
  }
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new UsageError(`--port must be from 1 to 65535; "${text}" is not.`);
}

const isProtocol = (name: string): name is Protocol => PROTOCOLS.includes(name);
