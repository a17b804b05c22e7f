// The agent's metrics for Prometheus.

import type { AgentTunnel } from '../tunnels/tunnel.ts';
import type { AgentHealth } from './health.ts';

type Sample = [labels: Record<string, string>, value: number];

/** The metrics in the text format of Prometheus, version 0.0.4. */
export function metricsText({ client, tunnels, version, damage, responses }: AgentHealth): string {
  const perTunnel = (value: (tunnel: AgentTunnel) => number) =>
    tunnels.map((tunnel): Sample => [{ url: tunnel.saved.url, protocol: tunnel.saved.protocol }, value(tunnel)]);
  const { rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    metric('agent_info', 'gauge', 'The agent, by its version.', [[{ version }, 1]]),
    metric('agent_session_up', 'gauge', 'Whether there is a session with the gateway.', [
      [{}, Number(client.state === 'online')],
    ]),
    metric(
      'agent_leg_up',
      'gauge',
      'Whether there is a session, of those that the agent has at once, by its number and the gateway.',
      client.legs.map(
        ({ number, gateway, node, state }): Sample => [
          { leg: String(number), gateway: gateway ?? '', node: node ?? '' },
          Number(state === 'online'),
        ],
      ),
    ),
    metric('agent_sessions_total', 'counter', 'Sessions with the gateway since the start.', [[{}, client.sessions]]),
    ...(client.latencyMs === null
      ? []
      : [
          metric('agent_heartbeat_seconds', 'gauge', 'Round trip of the last heartbeat.', [
            [{}, client.latencyMs / 1000],
          ]),
        ]),
    metric('agent_state_damaged', 'gauge', 'Whether the state file was damaged at the start.', [
      [{}, Number(damage !== null)],
    ]),
    metric(
      'agent_api_answers_total',
      'counter',
      'Answers of the local API.',
      [...responses].map(([status, count]): Sample => [{ status: String(status) }, count]),
    ),
    metric(
      'agent_tunnel_up',
      'gauge',
      'Whether the gateway serves the tunnel.',
      perTunnel(({ handle }) => Number(handle.state === 'active')),
    ),
    metric(
      'agent_tunnel_legs',
      'gauge',
      'Sessions that serve the tunnel.',
      perTunnel(({ handle }) => handle.legs),
    ),
    metric(
      'agent_tunnel_connections_total',
      'counter',
      'Connections to the upstream.',
      perTunnel(({ handle }) => handle.counters.connections),
    ),
    metric(
      'agent_tunnel_open_connections',
      'gauge',
      'Connections to the upstream now.',
      perTunnel(({ handle }) => handle.counters.openConnections),
    ),
    metric(
      'agent_tunnel_received_bytes_total',
      'counter',
      'Bytes from visitors.',
      perTunnel(({ handle }) => handle.counters.bytesIn),
    ),
    metric(
      'agent_tunnel_sent_bytes_total',
      'counter',
      'Bytes to visitors.',
      perTunnel(({ handle }) => handle.counters.bytesOut),
    ),
    metric(
      'agent_tunnel_dial_failures_total',
      'counter',
      'Connections that the place forwarded to did not take.',
      perTunnel(({ handle }) => handle.counters.dialFailures),
    ),
    metric('process_resident_memory_bytes', 'gauge', 'Memory of the process.', [[{}, rss]]),
    metric('process_cpu_seconds_total', 'counter', 'CPU time of the process.', [[{}, (user + system) / 1e6]]),
  ].join('');
}

function metric(name: string, type: 'gauge' | 'counter', help: string, samples: Sample[]): string {
  if (samples.length === 0) return '';
  const lines = samples.map(([labels, value]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
    return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

const escapeLabel = (text: string) => text.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));
