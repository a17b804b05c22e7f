// The agent's process: arguments and environment → a run, until a signal or the gateway says stop.

import { LineWriter } from '@gateway/protocol';
import { type Log, openLog } from './log.ts';
import { diagnose } from './run/diagnose.ts';
import { type AgentRun, type RestartState, runSingleTunnel } from './run/single-tunnel.ts';
import { startAgent } from './run/start-agent.ts';
import { type Command, HELP, type LabelsCommand, readCommand, type TunnelCommand, UsageError } from './settings/cli.ts';
import { type AgentConfig, ConfigError, readConfig } from './settings/config.ts';
import { openDefaultPolicy, readPolicyText } from './tunnels/policy.ts';
import { version } from './version.ts';

/** A stop that takes so much longer than visitors may take, in milliseconds, is not waited for. */
const STOP_MS = 2000;
const USAGE = 2;

/** How long an end waits for whoever reads what is said; milliseconds. */
const FLUSH_MS = 1000;

const output = new LineWriter(1);
const logs: LineWriter = new LineWriter(2, (dropped) =>
  logs.write(`${dropped} log lines were dropped: nobody took them\n`),
);
const print = (line: string) => output.write(`${line}\n`);
const restartState: RestartState = { identity: null, resume: null };

/** Ends the process when what it said has been taken, or soon all the same. */
async function exit(code: number): Promise<never> {
  await Promise.all([logs.flush(FLUSH_MS), output.flush(FLUSH_MS)]);
  process.exit(code);
}

try {
  const command = readCommand(process.argv.slice(2));
  if (command.does === 'help') print(HELP);
  else if (command.does === 'version') print(version);
  // What still is under way has no say any more.
  else await exit(await run(command));
} catch (error) {
  logs.write(`${explain(error)}\n`);
  await exit(error instanceof UsageError ? USAGE : 1);
}

/** @returns the exit code. */
async function run(command: Exclude<Command, { does: 'help' } | { does: 'version' }>): Promise<number> {
  let config = readConfig(process.env, process.cwd());
  if (command.does === 'diagnose') return (await diagnose(config, print)) ? 0 : 1;
  if (config.authtoken === '') throw new ConfigError('TUNNEL_AUTHTOKEN must be set to the authtoken of a credential');
  const log = openLog(config.logLevel, config.logFormat, (line) => logs.write(line));
  const stopped = signalled();
  for (;;) {
    const running = command.does === 'start' ? await startAgent(config, log, print) : oneTunnel(command, config, log);
    const why = await Promise.race([running.ended, stopped]);
    log('info', why === 'restart' ? 'restarting, as the gateway asked' : 'stopping', { why });
    const overdue = setTimeout(() => void exit(why === 'restart' ? 1 : 0), config.drainMs + STOP_MS);
    await running.close();
    clearTimeout(overdue);
    if (why !== 'restart') return 0;
    config = readAgain(config, log);
  }
}

/** The configuration for a restart: files that it names may be others by now. One that is not right is not used. */
function readAgain(config: AgentConfig, log: Log): AgentConfig {
  try {
    return readConfig(process.env, process.cwd());
  } catch (error) {
    log('error', 'the configuration is not right any more; the one before is used', {
      reason: (error as Error).message,
    });
    return config;
  }
}

function oneTunnel(command: TunnelCommand | LabelsCommand, config: AgentConfig, log: Log): AgentRun {
  const { forwardsTo } = command;
  const spec =
    command.does === 'labels'
      ? { labels: command.labels, forwardsTo, metadata: '' }
      : { protocol: command.protocol, domain: command.domain, forwardsTo, metadata: '', policy: policyOf(command) };
  return runSingleTunnel(config, spec, restartState, log, print);

  function policyOf({ protocol, policyFile }: TunnelCommand): string | null {
    if (policyFile !== null) return readPolicyText(policyFile, protocol);
    if (config.policyFile === null) return null;
    return JSON.stringify(openDefaultPolicy(config.policyFile, null, log).current(protocol));
  }
}

/** Resolves at the first signal that asks for an end; a second one is obeyed at once. */
function signalled(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const stop = (signal: NodeJS.Signals) => {
      if (asked) process.exit(1);
      asked = true;
      resolve(signal);
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  });
}

/** What a person can do something about is said in words alone; anything else with its stack. */
function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${HELP}`;
  if (error instanceof ConfigError) return `The configuration is not right:\n${error.message}`;
  if (!(error instanceof Error)) return String(error);
  return error.constructor === Error ? (error.stack ?? error.message) : error.message;
}
