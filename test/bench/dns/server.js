// The responder in a process of its own, so that its CPU time can be told from that of whoever asks. Prints its port.

import pino from 'pino';
import { DnsResponder } from '../../../dist/dns/responder.js';

const responder = new DnsResponder({
  zones: [{ apex: 'tunnel.test', addresses: ['192.0.2.1', '2001:db8::1'] }],
  names: {
    find: async (name) => {
      if (name.startsWith('app')) return { kind: 'addresses' };
      return name.startsWith('v') ? { kind: 'text', txt: ['x'.repeat(43), 'y'.repeat(43)] } : { kind: 'none' };
    },
  },
  log: pino({ level: 'silent' }),
  now: () => performance.now(),
  // All questions come from one network.
  limits: { perSecond: 1e9, burst: 1e9 },
});
const { port } = await responder.listen(0, '127.0.0.1');
process.stdout.write(`port ${port}\n`);
process.once('SIGTERM', () => void responder.close());
