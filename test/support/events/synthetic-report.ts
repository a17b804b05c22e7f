// A request that never was, told as the public side tells of those that were.

import { randomUUID } from 'node:crypto';
import type { RequestReport } from '../../../src/edge/reports/traffic-reports.ts';

/** Of a browser's request. @param n its path. */
export function reportOf(accountId: string, n: number): RequestReport {
  const at = Date.now();
  const host = `app-${n % 97}.example.com`;
  return {
    accountId,
    endpointId: 'ep_test',
    connection: {
      clientIp: `203.0.113.${n % 251}`,
      serverIp: '198.51.100.7',
      serverPort: 443,
      serverName: host,
      startedAt: at - (n % 60_000),
    },
    tls: { version: 'TLSv1.3', cipherSuite: 'TLS_AES_256_GCM_SHA384', clientCertificate: undefined },
    isConnectionReused: n % 10 > 0,
    request: {
      method: 'GET',
      version: 'HTTP/1.1',
      scheme: 'https',
      host,
      target: `/${n}?q=${(n * 2_654_435_761) % 4_294_967_296}`,
      fields: [
        ['Host', host],
        ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
        ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
        ['Accept-Language', 'en-US,en;q=0.5'],
        ['Accept-Encoding', 'gzip, deflate, br, zstd'],
        ['Cookie', `session=${n}`],
        ['X-Request-Id', randomUUID()],
      ],
      bodyLength: 0,
      firstByteAt: at - 20,
      lastByteAt: at - 20,
    },
    response: {
      status: n % 100 === 0 ? 500 : 200,
      fields: [
        ['Content-Type', 'text/html; charset=utf-8'],
        ['Content-Length', `${n % 5000}`],
        ['Date', new Date(at).toUTCString()],
        ['ETag', `"${((n * 40_503) % 65_536).toString(16)}"`],
      ],
      bodyLength: n % 5000,
      firstByteAt: at - 2,
      lastByteAt: at,
      isComplete: true,
    },
    decisions: {},
  };
}
