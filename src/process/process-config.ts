// The configuration of one process of several: its part of what all of them may use together.

import type { Config } from '../config/config.ts';

/** What `ps` and `top` show of a process. @param name `primary`, or that of its role. */
export const titleOf = (name: string) => `tunnel-gateway: ${name}`;

/** The names of the roles of all processes but the primary. */
export const processNames = ({ workers }: Pick<Config, 'workers'>) => [
  'control',
  ...Array.from({ length: workers }, (_, index) => `worker ${index + 1}`),
];

/** @param index of the worker, from 0; undefined for the control process. */
export function processConfig(config: Config, index: number | undefined): Config {
  const { workers, nodeLink } = config;
  const part = (total: number) => Math.ceil(total / workers);
  const remote = nodeLink?.remote;
  // The control process has NODE_PORT itself, and the workers those after it.
  const port = remote && remote.port !== 0 && index !== undefined ? remote.port + 1 + index : remote?.port;
  const own = {
    ...config,
    nodeLink: nodeLink && { ...nodeLink, remote: remote && { ...remote, port: port ?? 0 } },
  };
  if (index === undefined) return own;
  return {
    ...own,
    maxAgents: part(config.maxAgents),
    maxVisitors: part(config.maxVisitors),
    eventBufferBytes: part(config.eventBufferBytes),
    requestLogBytes: part(config.requestLogBytes),
  };
}
