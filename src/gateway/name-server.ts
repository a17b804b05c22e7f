// Starts the gateway's own name server.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { DnsResponder } from '../dns/responder.ts';
import { dnsMetrics } from '../monitoring/dns-metrics.ts';
import { zoneNames } from '../store/certificates/zone-names.ts';
import type { PrismaClient } from '../store/database/client.ts';
import type { Lifecycle } from './lifecycle.ts';

/** How long a process that is replaced may keep the port, and how often it is tried; milliseconds. */
const TAKEN_MS = { most: 10_000, pause: 100 };

/** @throws {Error} that names the variable when the port cannot be used. */
export async function startNameServer(
  parts: Lifecycle,
  config: Config,
  { prisma, log, registry }: { prisma: PrismaClient; log: Logger; registry: Registry },
): Promise<void> {
  const { nameServer, publicAddresses: addresses, baseDomain, cnameDomain, acmeDomain, dnsServesBaseDomain } = config;
  if (!nameServer) return;
  const apexes = new Set([acmeDomain, cnameDomain, ...(dnsServesBaseDomain ? [baseDomain] : [])]);
  const nameServers = nameServer.names.length > 0 ? { nameServers: nameServer.names } : {};
  const responder = new DnsResponder({
    zones: [...apexes].map((apex) => ({ apex, addresses, ...nameServers })),
    names: zoneNames(prisma, config),
    log,
    now: () => performance.now(),
  });
  await parts.start({
    name: 'name server',
    async start() {
      try {
        for (const host of nameServer.hosts) await listen(responder, nameServer.port, host);
      } catch (error) {
        await responder.close(); // At the addresses before.
        throw error;
      }
      log.info({ ...nameServer, zones: [...apexes] }, 'name server is listening');
      dnsMetrics(registry, responder);
    },
    drain: (_, drainMs) => responder.close(drainMs),
  });
}

async function listen(responder: DnsResponder, port: number, host: string) {
  for (const until = performance.now() + TAKEN_MS.most; ; )
    try {
      return await responder.listen(port, host);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EADDRINUSE' || performance.now() > until)
        throw new Error(`DNS_PORT: the name server cannot listen at ${host} port ${port} (${code})`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, TAKEN_MS.pause));
    }
}
