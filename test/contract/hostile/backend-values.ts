// Backends that name others wrongly, responses that cannot be given, and addresses that nobody can be at.

import { newId } from '../../../src/store/ids.ts';
import type { World } from '../world.ts';
import { type HostileCase, wrong } from './case.ts';

const many = Array.from({ length: 17 }, () => newId('bkdtg'));
const weights = (ids: string[]) => Object.fromEntries(ids.map((id) => [id, 1]));
const strangers = [newId('bkdtg'), newId('cr'), 'x', '', '__proto_', 'x'.repeat(300)];

const members: HostileCase[] = [
  wrong('createWeighted', 'backends', {}, 90660),
  wrong('createWeighted', 'backends', undefined, 90007),
  wrong('createFailover', 'backends', [], 90660),
  wrong('createFailover', 'backends', undefined, 90007),
  wrong('updateWeighted', 'backends', weights(many), 6511),
  wrong('updateFailover', 'backends', many, 6513),
  ...strangers.map((id) => wrong('createWeighted', 'backends', { [id]: 1 }, 6514)),
  ...strangers.map((id) => wrong('updateFailover', 'backends', [id], 6514, { blamed: 'backends[0]' })),
  ...[-1, 10_001, 1e9].map((weight) =>
    wrong('createWeighted', 'backends', ({ ids }: World) => ({ [ids.backend]: weight }), 6512),
  ),
  wrong('createFailover', 'backends', ({ ids }: World) => [ids.backend, ids.backend], 90661, {
    blamed: 'backends[1]',
  }),
  // To themselves, at once and over another one.
  wrong('updateFailover', 'backends', ({ ids }: World) => [ids.failoverBackend], 90662),
  wrong('updateWeighted', 'backends', ({ ids }: World) => ({ [ids.weightedBackend]: 1 }), 90662),
];

const responses: HostileCase[] = [
  ...[-1, 0, 100, 101, 199, 600, 999].map((status) => wrong('updateResponse', 'status_code', status, 6517)),
  wrong('createResponse', 'body', 'x'.repeat(32_769), 6516),
  wrong('createResponse', 'body', '\0', 215),
  ...[204, 304].map((status_code) =>
    wrong('createResponse', 'body', 'x', 90667, { body: () => ({ status_code, body: 'x' }) }),
  ),
  ...['Content-Length', 'transfer-encoding', 'connection'].map((name) =>
    wrong('updateResponse', 'headers', { [name]: '1' }, 2219),
  ),
  wrong('createResponse', 'headers', { 'a b': '1' }, 2210),
  wrong('createResponse', 'headers', { a: '1\r\nb: 2' }, 2211),
  wrong('createResponse', 'headers', { a: '1', A: '2' }, 90352),
  ...(['putTlsBackend', 'putTcpBackend'] as const).map((name) =>
    wrong(name, 'backend_id', ({ ids }: World) => ids.responseBackend, 90666),
  ),
];

const noAddresses = [
  '',
  'api.example.com',
  ':443',
  'api.example.com:',
  'api example.com:443',
  'https://api.example.com:443',
];
const noHosts = [
  '2001:db8::1:443',
  '[::1',
  '[fe80::1%eth0]:80',
  'api.example.com.:443',
  'müller.example:443',
  '127.1:80',
];
const notPublic = ['127.0.0.1', '169.254.169.254', '10.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[fe80::1]', '0.0.0.0'];

const addresses: HostileCase[] = [
  wrong('createStatic', 'address', undefined, 90007),
  ...[...noAddresses, ...noHosts].map((address) => wrong('createStatic', 'address', address, 90668)),
  ...[0, 65_536, 99_999].map((port) => wrong('updateStatic', 'address', `api.example.com:${port}`, 90669)),
  wrong('updateStatic', 'address', `${'a.'.repeat(127)}a:44300`, 90670),
  wrong('createStatic', 'address', `${'a'.repeat(64)}.example.com:443`, 90668),
  ...notPublic.map((host) => wrong('createStatic', 'address', `${host}:80`, 90671)),
];

export const wrongBackends = [...members, ...responses, ...addresses];
