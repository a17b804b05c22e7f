// The agent's process: it reads arguments and environment, and runs until a signal or a remote command ends it.

import { resolve } from 'node:path';
import { giveAddressesTime, LineWriter } from '@gateway/protocol';
import { waitAtMost } from './client/wait-at-most.ts';
import { authtokenOf } from './device/authtoken.ts';
import { deviceFileOf, openDevice } from './device/device-file.ts';
import { type Log, openLog } from './log.ts';
import { LogFile } from './log-file.ts';
import { diagnose } from './run/diagnose.ts';
import { serviceManager } from './run/service-manager.ts';
import { listenToSignals } from './run/signals.ts';
import { type AgentRun, inMemory, inStateFile, type RestartState, runSingleTunnel } from './run/single-tunnel.ts';
import { startAgent } from './run/start-agent.ts';
import { writeBundle } from './run/support-bundle.ts';
import {
  type Command,
  type DiagnoseCommand,
  HELP,
  type LabelsCommand,
  readCommand,
  type TunnelCommand,
  UsageError,
} from './settings/cli.ts';
import { type AgentConfig, ConfigError, checkPublication, readConfig } from './settings/config.ts';
import { chooseEndpoints, type NamedEndpoint, NO_CONFIG_FILE, readConfigFile } from './tunnels/config-file.ts';
import { LockError } from './tunnels/instance-lock.ts';
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
/** Where the log goes; undefined while that is standard error. */
let logFile: LogFile | undefined;
/** What a run of the agent is to do. */
interface Settings {
  config: AgentConfig;
  /** The endpoints of the configuration file that are to be opened. */
  endpoints: NamedEndpoint[];
}

const restartState: RestartState = inMemory();

/** Ends the process when its output is written, or after a timeout. */
async function exit(code: number): Promise<never> {
  const written = logFile?.close() ?? Promise.resolve();
  await waitAtMost(FLUSH_TIMEOUT_MS, written);
  await Promise.all([logs.flush(FLUSH_TIMEOUT_MS), output.flush(FLUSH_TIMEOUT_MS)]);
  process.exit(code);
}

giveAddressesTime();

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
  let settings = await readSettings(command);
  if (command.does === 'diagnose') return (await runDiagnosis(command, settings.config)) ? 0 : 1;
  let current = await openLogOf(settings.config);
  const log: Log = (...entry) => current(...entry);
  const manager = serviceManager(settings.config.serviceManager, log);
  const { stopped, hangUp } = listenToSignals();
  /** What the agent has run with. */
  let before: Settings | undefined;
  let reloaded = reloadAsked();
  for (;;) {
    const running = await begin();
    before = settings;
    manager.ready();
    const end = await Promise.race([running.ended, stopped, reloaded]);
    const isStop = typeof end === 'string' && end !== 'restart';
    if (isStop) log('info', 'stopping', { why: end });
    else if (end === 'restart') log('info', 'restarting, as the gateway asked', { why: end });
    else log('info', 'starting anew with the configuration as it is now');
    const forcedStop = setTimeout(() => void exit(isStop ? 0 : 1), settings.config.drainMs + FORCED_STOP_MS);
    await Promise.all([running.close(), isStop && manager.stopping()]);
    clearTimeout(forcedStop);
    if (isStop) return 0;
    if (end === 'restart') settings = await reload(settings, command, log);
    else {
      settings = end;
      reloaded = reloadAsked();
    }
    current = await openLogOf(settings.config);
  }

  async function begin(): Promise<AgentRun> {
    try {
      return await start(settings);
    } catch (error) {
      if (before === undefined || before === settings) throw error;
      log('error', 'the agent cannot start with this configuration; the previous one is used', {
        reason: (error as Error).message,
      });
      settings = before;
      return start(settings);
    }
  }

  function start({ config, endpoints }: Settings): Promise<AgentRun> {
    return command.does === 'start'
      ? startAgent(config, log, print, { endpoints })
      : startTunnel(command as TunnelCommand | LabelsCommand, config, log);
  }

  /** Resolves to the settings as SIGHUP has asked to read them. Invalid ones change nothing. */
  async function reloadAsked(): Promise<Settings> {
    for (;;) {
      await hangUp();
      manager.reloading();
      const read = await readSettings(command).catch((error: Error) => error);
      if (!(read instanceof Error)) return read;
      log('error', 'the configuration is not valid, and the agent goes on as it is', { reason: read.message });
      manager.ready();
    }
  }
}

/** The log that is configured. The file of the one before is closed, and the next line opens it again, whoever has moved it. */
async function openLogOf({ logLevel, logFormat, logFile: settings }: AgentConfig): Promise<Log> {
  await logFile?.close();
  logFile = settings ? new LogFile(settings, (line) => logs.write(line)) : undefined;
  return openLog(logLevel, logFormat, (line) => (logFile ?? logs).write(line));
}

/** @returns whether an agent could reach the gateway. */
async function runDiagnosis({ bundle }: DiagnoseCommand, config: AgentConfig): Promise<boolean> {
  const lines: string[] = [];
  const isReachable = await diagnose(config, (line) => {
    lines.push(line);
    print(line);
  });
  if (bundle !== undefined) {
    await writeBundle(resolve(bundle), config, { isReachable, lines });
    print(`${bundle} has all that is known of this agent, without secrets`);
  }
  return isReachable;
}

/** Reads the environment and, for the command `start`, the configuration file. What is set in the environment wins. */
async function readSettings(command: Command): Promise<Settings> {
  const { env } = process;
  if (command.does !== 'start') return { config: readConfig(env, process.cwd()), endpoints: [] };
  const name = command.configFile ?? env.AGENT_CONFIG?.trim() ?? '';
  // The file's parser is not loaded where there is none.
  const file = name === '' ? NO_CONFIG_FILE : await readConfigFile(resolve(name));
  const isSet = (name: string) => Boolean((env[name] ?? env[`${name}_FILE`])?.trim());
  const variables = Object.entries(file.variables).filter(([name]) => !isSet(name));
  const config = readConfig({ ...Object.fromEntries(variables), ...withoutEmpty(env) }, process.cwd());
  checkPublication(config);
  return { config, endpoints: chooseEndpoints(file, command.names) };
}

function withoutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, text]) => text?.trim()));
}

/** Reads the settings for a restart, as files may have changed. Invalid ones are not used. */
async function reload(settings: Settings, command: Command, log: Log): Promise<Settings> {
  try {
    return await readSettings(command);
  } catch (error) {
    log('error', 'the configuration is no longer valid; the previous one is used', {
      reason: (error as Error).message,
    });
    return settings;
  }
}

async function startTunnel(command: TunnelCommand | LabelsCommand, config: AgentConfig, log: Log): Promise<AgentRun> {
  // With an authtoken there is nothing to keep.
  const device = config.authtoken === '' ? await openDevice(deviceFileOf(config.stateFile), log) : undefined;
  const authtoken = authtokenOf(config, device, log);
  const { forwardsTo } = command;
  const spec =
    command.does === 'labels'
      ? { labels: command.labels, forwardsTo, metadata: '' }
      : {
          protocol: command.protocol,
          domain: command.domain,
          forwardsTo,
          metadata: '',
          policy: policyOf(command),
          proxyProtocol: command.proxyProtocol,
          upstreamTimeout: command.upstreamTimeout,
          hostHeader: command.hostHeader,
          isListed: command.isListed,
        };
  return runSingleTunnel(config, authtoken, spec, await stateOfRun(), log, print);

  async function stateOfRun(): Promise<RestartState> {
    if (!config.keepsState) return restartState;
    try {
      return await inStateFile(config.stateFile, spec, log);
    } catch (error) {
      if (!(error instanceof LockError)) throw error;
      // A person tries something beside the installed service.
      log('warn', 'the address of the tunnel is not kept', { reason: error.message });
      return restartState;
    }
  }

  function policyOf({ protocol, policyFile }: TunnelCommand): string | null {
    if (policyFile !== null) return readPolicyText(policyFile, protocol);
    if (config.policyFile === null) return null;
    return JSON.stringify(openDefaultPolicy(config.policyFile, null, log).current(protocol));
  }
}

/** The text for an error: only the message for an error that a person can fix, with the stack for others. */
function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${HELP}`;
  if (error instanceof ConfigError) return `The configuration is not right:\n${error.message}`;
  if (!(error instanceof Error)) return String(error);
  return error.constructor === Error ? (error.stack ?? error.message) : error.message;
}
