// Which certificate a name is shown with: the one that was uploaded for it, at once and after a restart, else one of the
// development authority.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { reserve } from '../support/agents/live.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';
import { type Identity, type Issuer, newIssuer } from '../support/issuer.ts';
import { startTlsLab, type TlsLab } from './tls-lab.ts';

const NAME = 'shown.example.com';
const MUTUAL = 'mutual.example.com';
const WILD = 'wild.example.com';
const ENDED = 'ended.example.com';

let place: Place;
let lab: TlsLab;
let issuer: Issuer;
beforeAll(async () => {
  place = await newPlace();
  lab = await startTlsLab({ place });
  issuer = await newIssuer('CN=Uploaded');
});
afterAll(async () => {
  await lab?.close();
  await place?.remove();
});

/** Uploads a certificate. @returns its id. */
async function upload(issued: Promise<Identity>): Promise<string> {
  const { cert, key } = await issued;
  const { status, body, text } = await lab.account.call('POST', '/tls_certificates', {
    certificate_pem: cert,
    private_key_pem: key,
  });
  expect(status, text).toBe(201);
  return body.id;
}

async function reservedFor(name: string): Promise<string> {
  const { body } = await lab.account.call('GET', '/reserved_domains?limit=100');
  return body.reserved_domains.find(({ domain }: { domain: string }) => domain === name).id;
}

const patch = async (id: string, certificateId: string) => {
  const { status, text } = await lab.account.call('PATCH', `/reserved_domains/${id}`, {
    certificate_id: certificateId,
  });
  expect(status, text).toBe(200);
};

/** The subject of the certificate that visitors of a name are shown, whoever has issued it. */
async function shownAt(name: string, trusted = [issuer.cert, lab.gateway.ca]): Promise<string> {
  const socket = await lab.connect(name, { ca: trusted });
  const subject = socket.getPeerX509Certificate()?.subject ?? '';
  socket.destroy();
  return subject;
}

test('what is shown for a name is what was uploaded for it last, at once', async () => {
  await lab.edge('https', NAME);
  const id = await reservedFor(NAME);
  expect(await shownAt(NAME, [lab.gateway.ca])).toBe(`CN=${NAME}`);

  const [one, two] = await Promise.all(
    ['one', 'two'].map((subject) => upload(issuer.issue({ subject: `CN=${subject}`, dns: [NAME], purpose: 'server' }))),
  );
  await patch(id, one as string);
  expect(await shownAt(NAME, [issuer.cert])).toBe('CN=one');
  await patch(id, two as string);
  expect(await shownAt(NAME, [issuer.cert])).toBe('CN=two');
  expect(await lab.come(NAME, { ca: issuer.cert })).toMatchObject({ status: 200 });
});

test('the certificate of a wildcard is shown for the names below it, but for those that have their own', async () => {
  const { session, upstream } = lab;
  const own = await upload(issuer.issue({ subject: 'CN=own', dns: [`own.${WILD}`], purpose: 'server' }));
  const any = await upload(issuer.issue({ subject: 'CN=any', dns: [`*.${WILD}`], purpose: 'server' }));
  await patch(await reserve(lab.account, `*.${WILD}`), any);
  await patch(await reserve(lab.account, `own.${WILD}`), own);
  for (const label of ['one', 'two', 'own'])
    await session.httpEndpoint().domain(`${label}.${WILD}`).listenAndForward(upstream.url);
  expect(await shownAt(`one.${WILD}`, [issuer.cert])).toBe('CN=any');
  expect(await shownAt(`two.${WILD}`, [issuer.cert])).toBe('CN=any');
  expect(await shownAt(`own.${WILD}`, [issuer.cert])).toBe('CN=own');
  expect(await lab.comeByHttp2(`one.${WILD}`, { ca: issuer.cert })).toMatchObject({ status: 200 });
});

test('with mutual TLS the uploaded certificate is shown, and the next one at once', async () => {
  const visitor = await issuer.issue();
  const edge = await lab.edge('tls', MUTUAL);
  await edge.set('mutual_tls', { certificate_authority_ids: await lab.authorities(issuer) });
  const id = await reservedFor(MUTUAL);
  for (const subject of ['CN=first', 'CN=next']) {
    await patch(id, await upload(issuer.issue({ subject, dns: [MUTUAL], purpose: 'server' })));
    const socket = await lab.connect(MUTUAL, { ...visitor, ca: issuer.cert });
    expect(socket.getPeerX509Certificate()?.subject).toBe(subject);
    socket.destroy();
    expect(await lab.come(MUTUAL, { ca: issuer.cert })).toMatchObject({ status: undefined });
  }
});

test('a policy that terminates TLS shows its certificate as long as it is on, and another one as soon as it has that', async () => {
  const edge = await lab.edge('tls', ENDED);
  const set = async (subject: string, enabled: boolean) => {
    const { cert, key } = await issuer.issue({ subject, dns: [ENDED], purpose: 'server' });
    const config = { server_certificate: cert, server_private_key: key };
    const value = JSON.stringify({ on_tcp_connect: [{ actions: [{ type: 'terminate-tls', config }] }] });
    await edge.set('traffic_policy', { enabled, value });
  };
  const visitor = { ca: issuer.cert };
  // Without it TLS goes through to the upstream, which speaks none.
  expect(await lab.come(ENDED, visitor)).toMatchObject({ status: undefined });
  for (const subject of ['CN=policy', 'CN=policy after']) {
    await set(subject, true);
    expect(await shownAt(ENDED, [issuer.cert])).toBe(subject);
    expect(await lab.come(ENDED, visitor)).toMatchObject({ status: 200 });
  }
  await set('CN=policy after', false);
  expect(await lab.come(ENDED, visitor)).toMatchObject({ status: undefined });
  await set('CN=policy again', true);
  expect(await shownAt(ENDED, [issuer.cert])).toBe('CN=policy again');
});

test('all of this is the same after a restart, and a certificate that is taken away is not shown any more', async () => {
  const { key } = lab.account;
  await lab.close();
  lab = await startTlsLab({ place });
  expect(lab.account.key).toBe(key);
  expect(await shownAt(NAME, [issuer.cert])).toBe('CN=two');
  expect(await shownAt(`one.${WILD}`, [issuer.cert])).toBe('CN=any');
  expect(await lab.come(MUTUAL, { ca: issuer.cert })).toMatchObject({ status: undefined });
  expect(await lab.come(MUTUAL, { ...(await issuer.issue()), ca: issuer.cert })).toMatchObject({ status: 200 });
  expect(await shownAt(ENDED, [issuer.cert])).toBe('CN=policy again');
  const id = await reservedFor(NAME);
  const { status } = await lab.account.call('DELETE', `/reserved_domains/${id}/certificate`);
  expect(status).toBe(204);
  expect(await shownAt(NAME, [lab.gateway.ca])).toBe(`CN=${NAME}`);
});
