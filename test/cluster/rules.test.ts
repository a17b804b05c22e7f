// What stands before a tunnel stands before it on every node: modules, policies, edges, internal endpoints; and every change of them.

import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { done, newEdge, visitEdge } from '../live/edges/support.ts';
import { newCredential } from '../support/agents/live.ts';
import { rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';
import { agentAt, type Cluster, named, serve, service, startCluster } from './support.ts';

const onRequest = (type: string, config: object = {}) => ({ on_http_request: [{ actions: [{ type, config }] }] });

describe.runIf(onServer)('on another node', () => {
  let cluster: Cluster;
  let owner: TestGateway;
  let entry: TestGateway;
  beforeAll(async () => {
    cluster = await startCluster(2);
    [owner, entry] = cluster.gateways as [TestGateway, TestGateway];
  });
  afterAll(() => cluster?.close());

  const agent = (credential?: object) => agentAt(owner, cluster.account, credential);
  const met = async (url: string, gateway = entry) => {
    const { status, body } = await visit(url, gateway.http);
    return status === 200 ? body.split(' ')[0] : status;
  };

  test('a policy of the tunnel is obeyed', async () => {
    const policy = onRequest('deny', { status_code: 418 });
    const url = await serve(await agent(), await named('denied'), { policy });
    expect([await met(url, owner), await met(url)]).toEqual([418, 418]);
  });

  test('a service is asked by the address that its agent has said to the node of the tunnel', async () => {
    const port = await service((request, response) => response.end(request.headers.host));
    const url = await serve(await agent(), port, { policy: onRequest('host-header', { host: 'rewrite' }) });
    expect([await met(url, owner), await met(url)]).toEqual(Array(2).fill(`127.0.0.1:${port}`));
  });

  test('a policy that the agent changes is obeyed once the change is acknowledged', async () => {
    const { authtoken } = await newCredential(cluster.account);
    const raw = await rawAgent(owner);
    expect((await raw.auth(authtoken)).Error).toBe('');
    const { Id, URL: url } = await raw.bind('patched.tunnel.localhost');
    expect((await visit(url, entry.http)).status).toBe(200);
    for (const status of [418, 451]) {
      const TrafficPolicy = JSON.stringify(onRequest('deny', { status_code: status }));
      expect((await raw.call(10, { TunnelId: Id, TrafficPolicy })).Error).toBe('');
      await eventually(async () => expect((await visit(url, entry.http)).status).toBe(status));
    }
  });

  test('a tunnel that is closed is gone, and one that is opened again is there', async () => {
    const client = await agent();
    const domain = 'again.tunnel.localhost';
    for (const name of ['first', 'second']) {
      const handle = client.open({ domain, forwardsTo: `127.0.0.1:${await named(name)}` });
      const url = await handle.answered;
      await eventually(async () => expect(await met(url)).toBe(name));
      await handle.close();
      await eventually(async () => expect(await met(url)).toBe(404));
    }
  });

  test('an exact name comes before a wildcard, whichever node has which', async () => {
    await done(cluster.account, 'POST', '/reserved_domains', { domain: '*.wild.example.com' });
    await serve(await agent(), await named('wildcard'), { domain: '*.wild.example.com' });
    const there = await agentAt(entry, cluster.account);
    expect([await met('http://a.wild.example.com', owner), await met('http://a.wild.example.com')]).toEqual([
      'wildcard',
      'wildcard',
    ]);
    await serve(there, await named('exact'), { domain: 'a.wild.example.com' });
    expect(await met('http://a.wild.example.com')).toBe('exact');
    await eventually(async () => expect(await met('http://a.wild.example.com', owner)).toBe('exact'));
    expect([await met('http://b.wild.example.com', owner), await met('http://b.wild.example.com')]).toEqual([
      'wildcard',
      'wildcard',
    ]);
  });

  test('an edge reaches the labelled tunnels of its backend', async () => {
    const { authtoken } = await newCredential(cluster.account);
    const raw = await rawAgent(owner);
    await raw.auth(authtoken);
    const labels = { site: 'berlin' };
    const { Id } = await raw.call(7, { Labels: labels, ForwardsTo: 'x', Metadata: '' });
    const edge = await newEdge(cluster.account, { labels });
    await eventually(async () => expect((await visitEdge(entry, edge)).body).toBe(Id));
    await eventually(async () => expect((await visitEdge(owner, edge)).body).toBe(Id));
    raw.close();
    await eventually(async () => expect((await visitEdge(entry, edge)).body).toContain('ERR_GATEWAY_6528'));
  });

  test('a name is taken over from an agent of the same credential that is silent at its node', async () => {
    const { authtoken } = await newCredential(cluster.account);
    const [silent, next] = [await rawAgent(owner, { mute: true }), await rawAgent(entry)];
    for (const agent of [silent, next]) await agent.auth(authtoken);
    await silent.bind('silent.tunnel.localhost');
    const { Id, Error: error } = await next.bind('silent.tunnel.localhost');
    expect(error).toBe('');
    await eventually(async () => expect(await met('http://silent.tunnel.localhost', owner)).toBe(Id));
  });

  test('a failover backend goes by what is online at any node, and changes reach every node', async () => {
    const { authtoken } = await newCredential(cluster.account);
    const make = async (kind: string, body: object): Promise<string> =>
      (await done(cluster.account, 'POST', `/backends/${kind}`, body)).id;
    const group = await make('tunnel_group', { labels: { site: 'paris' } });
    const sorry = await make('http_response', { body: 'closed' });
    const id = await make('failover', { backends: [group, sorry] });
    const edge = await newEdge(cluster.account);
    await done(cluster.account, 'POST', `${edge.at}/routes`, {
      ...{ match_type: 'path_prefix', match: '/' },
      backend: { backend_id: id },
    });
    const isMet = (who: string) =>
      Promise.all(
        [owner, entry].map((at) => eventually(async () => expect((await visitEdge(at, edge)).body).toBe(who))),
      );
    await isMet('closed');
    const raw = await rawAgent(owner);
    await raw.auth(authtoken);
    const { Id } = await raw.call(7, { Labels: { site: 'paris' }, ForwardsTo: 'x', Metadata: '' });
    await isMet(Id as string);
    await done(cluster.account, 'PATCH', `/backends/failover/${id}`, { backends: [sorry, group] });
    await isMet('closed');
    raw.close();
  });

  test('a policy forwards to an internal endpoint of another node, and to none that the ACL denies', async () => {
    await serve(await agent(), await named('inner'), { domain: 'inner.internal' });
    const there = await agentAt(entry, cluster.account, { acl: ['bind:*.tunnel.localhost', 'bind:inner.internal'] });
    const policy = onRequest('forward-internal', { url: 'http://inner.internal' });
    const url = await serve(there, await named('outer'), { policy });
    expect([await met(url), await met(url, owner)]).toEqual(['inner', 'inner']);
  });

  test('a policy forwards to the port of an internal name at another node that it names', async () => {
    const [behind, before] = await Promise.all(
      [owner, entry].map(async (gateway) => {
        const raw = await rawAgent(gateway);
        await raw.auth((await newCredential(cluster.account)).authtoken);
        return raw;
      }),
    );
    if (!behind || !before) return expect.unreachable();
    const urls = ['http://ports.internal', 'http://ports.internal:8080', 'tcp://ports.internal:5432'];
    const ids = [];
    for (const URL of urls) ids.push((await behind.bind('', { Proto: URL.split(':')[0], Opts: { URL } })).Id);
    for (const [i, url] of urls.slice(0, 2).entries()) {
      const { URL: outer } = await before.bind('', {
        Opts: { TrafficPolicy: JSON.stringify(onRequest('forward-internal', { url })) },
      });
      expect(await met(outer)).toBe(ids[i]);
    }
    const policy = { on_tcp_connect: [{ actions: [{ type: 'forward-internal', config: { url: urls[2] } }] }] };
    const outer = await before.bind('', { Proto: 'tcp', Opts: { Addr: '', TrafficPolicy: JSON.stringify(policy) } });
    const { body } = await visit('http://ports.internal', outer.URL.replace(/^.*:/, entry.http.replace(/\d+$/, '')));
    expect(body).toBe(ids[2]);
    for (const raw of [behind, before]) raw.close();
  });

  test('a policy that computes a name leads to internal ones alone, and never to another account', async () => {
    const stranger = await owner.newAccount();
    const theirs = await rawAgent(owner);
    expect((await theirs.auth((await newCredential(stranger)).authtoken)).Error).toBe('');
    expect((await theirs.bind('theirs.tunnel.localhost')).Error).toBe('');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of a policy
    const policy = onRequest('forward-internal', { url: "http://${req.headers['x-to'][0]}" });
    const url = await serve(await agent(), await named('never'), { policy });
    const headers = { 'x-to': 'theirs.tunnel.localhost' };
    for (const gateway of cluster.gateways)
      await eventually(async () => expect((await visit(url, gateway.http, { headers })).status).toBe(502));
  });

  test('the pooled tunnels of several nodes are all used, those of the own node first', async () => {
    const domain = 'pooled.tunnel.localhost';
    const bindPooled = async (gateway: TestGateway) => {
      const { authtoken } = await newCredential(cluster.account);
      const raw = await rawAgent(gateway);
      await raw.auth(authtoken);
      const bound = await raw.bind(domain, { Extra: { Token: '', PoolingEnabled: true } });
      expect(bound.Error).toBe('');
      return { raw, id: bound.Id as string };
    };
    const one = await bindPooled(owner);
    expect((await visit(`http://${domain}`, entry.http)).body).toBe(one.id);
    // It joins what the entry node knows already.
    const other = await bindPooled(owner);
    const seen = new Set<string>();
    // The requests of one connection stay with one tunnel.
    const agent = new Agent();
    await eventually(async () => {
      seen.add((await visit(`http://${domain}`, entry.http, { agent })).body);
      expect([...seen].sort()).toEqual([one.id, other.id].sort());
    });
    const own = await bindPooled(entry);
    for (let i = 0; i < 5; i++) expect((await visit(`http://${domain}`, entry.http, { agent })).body).toBe(own.id);
    own.raw.close();
    await eventually(async () =>
      expect([one.id, other.id]).toContain((await visit(`http://${domain}`, entry.http)).body),
    );
  });

  test('an exact name that another node binds is served, also where its wildcard was known before', async () => {
    await done(cluster.account, 'POST', '/reserved_domains', { domain: '*.known.example.com' });
    const there = await agent();
    await serve(there, await named('wildcard'), { domain: '*.known.example.com' });
    const url = 'http://exact.known.example.com';
    expect(await met(url)).toBe('wildcard');
    await serve(there, await named('exact'), { domain: 'exact.known.example.com' });
    await eventually(async () => expect(await met(url)).toBe('exact'));
  });
});
