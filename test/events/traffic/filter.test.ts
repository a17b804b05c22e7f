import { describe, expect, test } from 'vitest';
import { checkFilter, compileFilter, TrafficFilter } from '../../../src/events/traffic/filter.ts';
import { trafficObjects } from '../../../src/events/traffic/gateway-objects.ts';
import { bareReport, connectionReport, recorded, requestReport, source } from './support.ts';

const { fields: httpFields, shape: HTTP } = trafficObjects['http_request_complete.v0'];
const { fields: tcpFields, shape: TCP } = trafficObjects['tcp_connection_closed.v0'];
const matches = (text: string, report = requestReport()) => new TrafficFilter(text, HTTP).matches(report);

describe('of a request', () => {
  test.each([
    ["ev.conn.client_ip == '203.0.113.7'", true],
    ["ev.conn.server_name == 'shop.example.com' && ev.conn.server_port == 443", true],
    ["inCidrRange(ev.conn.client_ip, '203.0.113.0/24')", true],
    ["inCidrRanges(ev.conn.client_ip, ['10.0.0.0/8', '192.168.0.0/16'])", false],
    ['ev.conn.server_ip.isPrivateIp()', true],
    ['ev.http.response.status_code >= 500', true],
    ['ev.http.response.status_code >= 500 && ev.http.response.body_length < 1000', false],
    ["ev.http.request.method in ['GET', 'HEAD']", true],
    ["ev.http.request.url.path.startsWith('/a/') && ev.http.request.url.query.contains('page=2')", true],
    ["ev.http.request.url.raw.matches('^https://[^/]*:8443/')", true],
    ["ev.http.request.headers['accept'] == ['text/html', '*/*']", true],
    ["ev.http.request.headers['Accept'].exists(v, v.contains('html'))", true],
    ["'x-none' in ev.http.request.headers", false],
    ["ev.http.request.headers['authorization'][0] == '***'", true],
    ["ev.http.response.headers['set-cookie'].size() == 2", true],
    ["ev.basic_auth.decision == 'deny' && ev.basic_auth.username.startsWith('zo')", true],
    ["ev.tls.client_cert.subject.cn == 'till 3'", true],
    ["ev.traffic_policy.logs.exists(log, log.level == 'info')", true],
    ['ev.backend.connection_reused', true],
    ["ev.http.response.last_byte_ts - ev.http.request.first_byte_ts > duration('2s')", true],
    ["ev.conn.start_ts < timestamp('2026-01-01T00:00:00Z')", false],
    ['has(ev.tls.version)', true],
    ['true', true],
  ])('%s is %s', (text, expected) => {
    expect(checkFilter(text, HTTP)).toBeUndefined();
    expect(matches(text)).toBe(expected);
  });
});

test('of a connection', () => {
  const filter = new TrafficFilter("ev.conn.bytes_out > 1000 && ev.ip_policy.decision == 'allow'", TCP);
  expect(filter.matches(connectionReport())).toBe(true);
  expect(filter.matches(connectionReport({ decisions: {} }))).toBeUndefined();
});

test('what a report says nothing of has no value: it can be asked for with has()', () => {
  expect(matches("ev.tls.version == 'TLSv1.3'", bareReport())).toBeUndefined();
  expect(matches("!has(ev.tls.version) || ev.tls.version == 'TLSv1.2'", bareReport())).toBe(true);
  expect(matches('ev.http.response.status_code == 503 || ev.conn.server_port == 443', bareReport())).toBe(true);
});

test('every field of the catalogue can be asked for', () => {
  for (const { name } of httpFields) expect(checkFilter(`has(ev.${name})`, HTTP)).toBeUndefined();
  for (const { name } of tcpFields) expect(checkFilter(`has(ev.${name})`, TCP)).toBeUndefined();
  for (const { name } of httpFields) expect(matches(`has(ev.${name})`)).toBe(true);
});

describe('is refused, with place and reason:', () => {
  test.each([
    ['ev.conn.client_ip = 1', /^cannot be read at character 19: .*equality is ==/],
    ["ev.conn.clientip == ''", /^cannot be read at character 1: .*did you mean ev\.conn\.client_ip\?/],
    ["true && ev.response.status == ''", /^cannot be read at character 9: uses ev\.response\.status/],
    ["ev.oauth.user == ''", /not known/],
    ["conn.client_ip == ''", /not known/],
    ["ev.http.response.status_code == '500'", /compares an int with a string/],
    ['ev.http.response.status_code', /must be true or false/],
    ["ev.conn == ''", /it has ev\.conn\.client_ip/],
    ["ev.conn.client_ip.matches('(')", /pattern/],
    [`${'('.repeat(200)}true${')'.repeat(200)}`, /nested deeper/],
    [' ', /is empty/],
  ])('%s', (text, reason) => {
    expect(checkFilter(text, HTTP)).toMatch(reason);
  });

  test('what only the other type has', () => {
    expect(checkFilter('ev.conn.bytes_in > 0', HTTP)).toMatch(/not known/);
    expect(checkFilter('ev.http.response.status_code > 0', TCP)).toMatch(/not known/);
  });
});

test("'' is no filter, and lets everything through", () => {
  expect(checkFilter('', HTTP)).toBeUndefined();
});

test('a filter that has too much to do ends soon, and lets nothing through', () => {
  const fields = Array.from({ length: 100 }, (_, n) => [`x-${n}`, 'v'.repeat(100)] as const);
  const report = requestReport({ request: { ...requestReport().request, fields } });
  const text = 'ev.http.request.headers.all(a, ev.http.request.headers.all(b, a + b != a))';
  expect(checkFilter(text, HTTP)).toBeUndefined();
  expect(() => compileFilter(text, HTTP)(report)).toThrow(/too much to do/);
  expect(matches(text, report)).toBeUndefined();
  expect(matches("ev.http.request.headers.exists(name, name == 'x-99')", report)).toBe(true);
});

test('what fails is not delivered, and counted; so is what can no longer be read', async () => {
  const { recorder, counters, events } = await recorded([
    source({ filter: "ev.basic_auth.decision == 'deny'", destinationIds: ['ed_1'] }),
    source({ filter: 'ev.gone == 1', destinationIds: ['ed_2'] }),
    source({ filter: 'ev.conn.server_port != 443', destinationIds: ['ed_3'] }),
    source({ filter: 'ev.conn.server_port == 443', destinationIds: ['ed_4'] }),
  ]);
  recorder.request(bareReport());
  recorder.request(requestReport());
  expect(events.map(({ to }) => to)).toEqual(['ed_4', 'ed_1', 'ed_4']);
  expect(counters).toMatchObject({ reported: 2, sampledOut: 0, filteredOut: 2, filterFailed: 3 });
});
