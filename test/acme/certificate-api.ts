// What tests ask of the API about certificates that are obtained, and what visitors are shown.

import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { eventually } from '../support/eventually.ts';
import type { TestGateway } from '../support/gateway/gateway.ts';

/** What the API tells of a certificate that is obtained. */
export interface Provisioning {
  names: string[];
  state: string;
  message: string;
  errorCode: string | null;
  attempts: number;
  nextAt: string | null;
  blockedUntil: string | null;
  renewsAt: string | null;
  notAfter: string | null;
  records: { name: string; type: string; expected: string; found: string[]; state: string; message: string }[];
  revocation: { reason: string; refusal: string | null } | null;
  orders: { outcome: string | null; errorCode: string | null; message: string }[];
}

export interface Domain {
  id: string;
  domain: string;
  cname_target: string;
  acme_challenge_cname_target: string | null;
}

const FIELDS = `names state message errorCode attempts nextAt blockedUntil renewsAt notAfter
  records { name type expected found state message } revocation { reason refusal } orders { outcome errorCode message }`;
const OF_DOMAIN = `query ($id: ID!) { reservedDomain(id: $id) { certificateProvisioning { ${FIELDS} } } }`;
const OF_GATEWAY = `{ gatewayCertificates { ${FIELDS} } }`;

export interface CertificateApi {
  reserve(domain: string, more?: object): Promise<Domain>;
  provisioning(id: string): Promise<Provisioning>;
  /** Those of the gateway's own names. */
  ofGateway(): Promise<Provisioning[]>;
  /** Waits for one of these states, and tells how things are then. */
  reach(id: string, ...states: string[]): Promise<Provisioning>;
  /** Waits until the records of a domain were looked up for the first time. */
  firstLook(id: string): Promise<Provisioning>;
  /** Asks for another try, as a person would. @returns the errors; undefined when it was granted. */
  retry(id: string): Promise<{ message: string; extensions: { code: string; errorCode: string } }[] | undefined>;
}

export function certificateApi(gateway: TestGateway): CertificateApi {
  const ask = async (query: string, variables?: object) => {
    const { data, errors } = (await gateway.graphql(query, variables)).body;
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  };
  const provisioning = async (id: string): Promise<Provisioning> =>
    (await ask(OF_DOMAIN, { id })).reservedDomain.certificateProvisioning;
  const until = (id: string, isReached: (found: Provisioning) => boolean, what: string) =>
    eventually(async () => {
      const now = await provisioning(id);
      if (!isReached(now)) throw new Error(`${what} is not reached: ${JSON.stringify(now)}`);
      return now;
    });
  return {
    provisioning,
    ofGateway: async () => (await ask(OF_GATEWAY)).gatewayCertificates,
    async reserve(domain, more = {}) {
      const { status, body } = await gateway.call('POST', '/reserved_domains', { domain, ...more });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return body as Domain;
    },
    reach: (id, ...states) => until(id, ({ state }) => states.includes(state), `${states}`),
    firstLook: (id) => until(id, ({ records }) => records.length > 0, 'a first look'),
    retry: async (id) =>
      (await gateway.graphql('mutation ($id: ID!) { retryCertificate(id: $id) { reservedDomain { id } } }', { id }))
        .body.errors,
  };
}

/** Speaks TLS with the gateway. @returns the connection. Rejects when the certificate is not of the authority, or for another name. */
export function visit(gateway: TestGateway, options: ConnectionOptions & { servername: string }): Promise<TLSSocket> {
  const port = Number(gateway.https.split(':').at(-1));
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ...options }, () => resolve(socket));
    socket.on('error', reject);
  });
}
