// The agent's process: it reads arguments and environment, and runs until a signal or a remote command ends it.

import { LineWriter } from '@gateway/protocol';
import { type Log, openLog } from './log.ts';
import { diagnose } from './run/diagnose.ts';
import { type AgentRun, type RestartState, runSingleTunnel } from './run/single-tunnel.ts';
import { startAgent } from './run/start-agent.ts';
import { type Command, HELP, type LabelsCommand, readCommand, type TunnelCommand, UsageError } from './settings/cli.ts';
import { type AgentConfig, ConfigError, readConfig } from './settings/config.ts';
import { openDefaultPolicy, readPolicyText } from './tunnels/policy.ts';
import { version } from './version.ts';

/** The time in addition to the drain after which a stop is forced; milliseconds. */
const FORCED_STOP_MS = 2000;
const USAGE_EXIT_CODE = 2;

/** The time in which the readers of the standard streams must take the last lines; milliseconds. */
const FLUSH_TIMEOUT_MS = 1000;

const output = new LineWriter(1);
const logs: LineWriter = new LineWriter(2, (dropped) =>
  logs.write(`${dropped} log lines were dropped, as nothing read them\n`),
);
const print = (line: string) => output.write(`${line}\n`);
const restartState: RestartState = { identity: null, resume: null };

/** Ends the process when its output is written, or after a timeout. */
async function exit(code: number): Promise<never> {
  await Promise.all([logs.flush(FLUSH_TIMEOUT_MS), output.flush(FLUSH_TIMEOUT_MS)]);
  process.exit(code);
}

try {
  const command = readCommand(process.argv.slice(2));
  if (command.does === 'help') print(HELP);
  else if (command.does === 'version') print(version);
  // Asynchronous work that is left over does not keep the process alive.
  else await exit(await run(command));
} catch (error) {
  logs.write(`${explain(error)}\n`);
  await exit(error instanceof UsageError ? USAGE_EXIT_CODE : 1);
}

/** @returns the exit code. */
async function run(command: Exclude<Command, { does: 'help' } | { does: 'version' }>): Promise<number> {
  let config = readConfig(process.env, process.cwd());
  if (command.does === 'diagnose') return (await diagnose(config, print)) ? 0 : 1;
  if (config.authtoken === '') throw new ConfigError('TUNNEL_AUTHTOKEN must be set to the authtoken of a credential');
  const log = openLog(config.logLevel, config.logFormat, (line) => logs.write(line));
  const stopped = waitForSignal();
  for (;;) {
    const running = command.does === 'start' ? await startAgent(config, log, print) : startTunnel(command, config, log);
    const reason = await Promise.race([running.ended, stopped]);
    log('info', reason === 'restart' ? 'restarting, as the gateway asked' : 'stopping', { why: reason });
    const forcedStop = setTimeout(() => void exit(reason === 'restart' ? 1 : 0), config.drainMs + FORCED_STOP_MS);
    await running.close();
    clearTimeout(forcedStop);
    if (reason !== 'restart') return 0;
    config = reloadConfig(config, log);
  }
}

/** Reads the configuration for a restart, as files that it names may have changed. An invalid one is not used. */
function reloadConfig(config: AgentConfig, log: Log): AgentConfig {
  try {
    return readConfig(process.env, process.cwd());
  } catch (error) {
    log('error', 'the configuration is no longer valid; the previous one is used', {
      reason: (error as Error).message,
    });
    return config;
  }
}

function startTunnel(command: TunnelCommand | LabelsCommand, config: AgentConfig, log: Log): AgentRun {
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

/** Resolves with the first signal that ends the process. A second one ends it at once. */
function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (signal: NodeJS.Signals) => {
      if (isStopping) process.exit(1);
      isStopping = true;
      resolve(signal);
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  });
}

/** The text for an error: only the message for an error that a person can fix, with the stack for others. */
function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${HELP}`;
  if (error instanceof ConfigError) return `The configuration is not right:\n${error.message}`;
  if (!(error instanceof Error)) return String(error);
  return error.constructor === Error ? (error.stack ?? error.message) : error.message;
}
