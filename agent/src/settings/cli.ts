// Parses the command line into a command.

import { parseArgs } from 'node:util';
import type { Labels, Protocol } from '../gateway-client.ts';
import {
  isDirectoryUrl,
  readDirectoryUrl,
  readForwardsTo,
  readHostHeader,
  readUpstreamTimeout,
} from './forwards-to.ts';
import { readLabels } from './labels.ts';

/** A command for one tunnel, for as long as the process runs. */
export interface TunnelCommand {
  does: 'tunnel';
  protocol: Protocol;
  forwardsTo: string;
  domain: string | null;
  policyFile: string | null;
  proxyProtocol: 1 | 2 | undefined;
  /** Seconds. */
  upstreamTimeout: number | undefined;
  /** As `TunnelSpec` has it. */
  hostHeader: string | undefined;
  /** Whether directories without an index.html are shown as a list. */
  isListed: boolean;
}

/** A command for one tunnel with labels, for edges. */
export interface LabelsCommand {
  does: 'labels';
  labels: Labels;
  forwardsTo: string;
}

/** The local API, and endpoints of the configuration file. */
export interface StartCommand {
  does: 'start';
  /** The names of the endpoints, or all of them. */
  names: string[] | 'all';
  /** The configuration file; null for the one that the environment names, if any. */
  configFile: string | null;
}

/** What is between this machine and the gateway. */
export interface DiagnoseCommand {
  does: 'diagnose';
  /** The file that all about this agent is written to, for who has to help; left out: none. */
  bundle?: string;
}

/** A parsed command line. */
export type Command =
  | { does: 'help' }
  | { does: 'version' }
  | StartCommand
  | DiagnoseCommand
  | TunnelCommand
  | LabelsCommand;

/** The arguments are no valid command; the message says what is expected. */
export class UsageError extends Error {}

export const HELP = `Usage: tunnel-agent <command>

  start [NAME...] [--all]   the local API, the tunnels that were made through it, and endpoints of the configuration file
  http PORT|HOST:PORT       one tunnel, for as long as this runs; its URL is printed
  https PORT|HOST:PORT      the same with an https:// URL
  tls PORT|HOST:PORT        the same with a tls:// URL: the program itself does TLS
  tcp PORT|HOST:PORT        the same with a tcp:// URL
  labels PORT|HOST:PORT     one tunnel without a URL, for the edges that choose it by its labels
  diagnose                  what is between this machine and the gateway

  --domain NAME             the name to serve (http, https, tls); otherwise the gateway chooses one
  --port N                  the public port to serve (tcp); otherwise the gateway chooses one
  --policy FILE             the traffic policy, in JSON or YAML (default: AGENT_POLICY_FILE, otherwise none)
  --config FILE             the configuration file, in YAML (start; default: AGENT_CONFIG, otherwise none)
  --proxy-protocol 1|2      tells the program who the visitor is, before the visitor's own bytes (http, https, tcp, tls)
  --host-header rewrite|N   the program is asked by its own address, or by the name N (http, https)
  --upstream-timeout 5m     how long the program may take until its response begins, 1s to 1h (http, https)
  --directory-listing       shows directories without an index.html as a list (file://)
  --bundle FILE             writes that, the settings, the state and the last of the log to a file, without secrets (diagnose)
  --label KEY=VALUE         a label of the tunnel (labels); needed once, and may be given again for others
  --help, --version

A program that speaks TLS is named by a URL: https://HOST:PORT. Files of a directory are served by http file:///srv/www.

Environment:
  TUNNEL_AUTHTOKEN          the authtoken of the credential to use; required without a provisioning key. It, the provisioning key
                            and AGENT_API_TOKEN may be in files: TUNNEL_AUTHTOKEN_FILE, or a credential of systemd of that name
  TUNNEL_PROVISIONING_KEY   with it the device gets a credential of its own, once, and keeps that beside its state
  GATEWAY_API               the URL of the gateway's API, where it gets that
  GATEWAY_ADDR              the gateway's agent listener (127.0.0.1:4443); or several, separated by commas
  LEGS                      how many gateways to be connected to at once, 1 to 4 (2 where there are two addresses)
  GATEWAY_CA                a file with the certificates to trust, in PEM (those that Node trusts)
  PROXY_URL                 a proxy on the way to the gateway: http://USER:PASSWORD@HOST:PORT, https:// or socks5://
                            (HTTPS_PROXY or ALL_PROXY, but not for the hosts in NO_PROXY and this machine itself)
  AGENT_FORWARDS_TO         where tunnels may lead: CIDRs and hosts, separated by commas (loopback)
  AGENT_POLICY_FILE         the policy of tunnels that are made without one (one that comes with the agent)
  AGENT_API_ADDR            where the local API listens (127.0.0.1:8000)
  AGENT_API_TOKEN           what requests to it must carry: Authorization: Bearer <token> (nothing)
  AGENT_DOMAIN              the name that the local API is published under (not published); needs AGENT_API_TOKEN
  AGENT_API_UNPROTECTED     true: the API is published without a token, for whoever knows the name (false)
  AGENT_CONFIG              the configuration file, with endpoints for "start" (none)
  AGENT_STATE_FILE          where tunnels are kept (tunnels.json)
  AGENT_NAME                what the gateway calls this agent (the name of the host)
  AGENT_LABELS              what it is labelled with there: site=berlin,floor=2 (nothing)
  LOG_LEVEL, LOG_FORMAT     silent|fatal|error|warn|info|debug|trace (info), json|text (json); logs go to standard error
  LOG_FILE                  or to a file, of LOG_FILE_MAX_MB megabytes (10); LOG_FILE_KEEP files before it are kept (3)
`;

const PROTOCOLS: readonly string[] = ['http', 'https', 'tcp', 'tls'];

/** Parses the arguments. @throws {UsageError} when they are no valid command. */
export function readCommand(args: string[]): Command {
  const { values, positionals } = parse(args);
  if (values.help) return { does: 'help' };
  if (values.version) return { does: 'version' };
  const [name, target, ...rest] = positionals;
  if (name === undefined) throw new UsageError('No command is given.');
  if (name === 'start') return readStart(positionals.slice(1), values);
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
    allowOptions('domain', 'port', 'policy', 'proxy-protocol', 'directory-listing', 'upstream-timeout', 'host-header');
    const forwardsTo = readTarget(name, target);
    const proxyProtocol = readVersion(values['proxy-protocol']);
    if (proxyProtocol && /^(https|tls|file):/.test(forwardsTo))
      throw new UsageError('--proxy-protocol is only for a program without TLS, where it comes first.');
    const { 'upstream-timeout': timeout, 'host-header': hostHeader } = values;
    for (const option of ['upstream-timeout', 'host-header'] as const)
      if (values[option] !== undefined && name !== 'http' && name !== 'https')
        throw new UsageError(`--${option} is only for http and https.`);
    return {
      does: 'tunnel',
      protocol: name,
      forwardsTo,
      domain: port === undefined ? (domain ?? null) : `:${readPort(port)}`,
      policyFile: policy ?? null,
      proxyProtocol,
      upstreamTimeout: timeout === undefined ? undefined : readOption('upstream-timeout', timeout, readUpstreamTimeout),
      hostHeader:
        hostHeader === undefined
          ? undefined
          : readOption('host-header', hostHeader, (text) => readHostHeader(text, forwardsTo)),
      isListed: values['directory-listing'] ?? false,
    };
  }
  if (name === 'labels') {
    allowOptions('label');
    return { does: 'labels', forwardsTo: readTarget(name, target), labels: readLabelsOf(name, label) };
  }
  if (name !== 'diagnose') throw new UsageError(`There is no command "${name}".`);
  if (target !== undefined) throw new UsageError(`"${name}" takes no argument.`);
  allowOptions('bundle');
  return { does: name, ...(values.bundle !== undefined && { bundle: values.bundle }) };
}

function readStart(names: string[], { all, config, ...others }: ReturnType<typeof parse>['values']): StartCommand {
  const [unexpected] = Object.keys(others);
  if (unexpected !== undefined) throw new UsageError(`--${unexpected} is not for "start".`);
  if (all && names.length > 0) throw new UsageError('Either names of endpoints or --all: not both.');
  return { does: 'start', names: all ? 'all' : names, configFile: config ?? null };
}

function readVersion(text: string | undefined): 1 | 2 | undefined {
  if (text === undefined) return undefined;
  if (text === '1' || text === '2') return text === '1' ? 1 : 2;
  throw new UsageError(`--proxy-protocol must be 1 or 2; "${text}" is not.`);
}

function readOption<T>(option: string, text: string, read: (text: string) => T): T {
  try {
    return read(text);
  } catch (error) {
    throw new UsageError(`--${option} ${(error as Error).message}; "${text}" is not.`);
  }
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
        all: { type: 'boolean' },
        config: { type: 'string' },
        'proxy-protocol': { type: 'string' },
        'host-header': { type: 'string' },
        'upstream-timeout': { type: 'string' },
        'directory-listing': { type: 'boolean' },
        bundle: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readTarget(name: string, text: string | undefined): string {
  if (text === undefined) throw new UsageError(`"${name}" needs a port to forward to, as in: ${name} 3000`);
  try {
    if (isDirectoryUrl(text) && (name === 'http' || name === 'https')) return readDirectoryUrl(text) && text;
    return readForwardsTo(/^\d+$/.test(text) ? `localhost:${text}` : text).text;
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
