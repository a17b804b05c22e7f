// What challenges are answered with, which depends on the key of the account (RFC 8555, section 8.1).

import type { AcmeClient } from '../client/client.ts';
import type { AcmeChallenge } from '../client/resources.ts';
import type { Challenge } from './job.ts';

/** The key authorization, or the text of the record. */
export const answerTo = (client: AcmeClient, { type, token }: { type: string; token: string }): Promise<string> =>
  type === 'dns-01' ? client.dnsValue(token) : client.keyAuthorization(token);

/** Those of the authority's challenges that are answered as long as the account had another key. */
export async function answeredWithOtherKey(
  client: AcmeClient,
  challenges: readonly AcmeChallenge[],
  published: readonly Challenge[],
): Promise<AcmeChallenge[]> {
  const others: AcmeChallenge[] = [];
  for (const challenge of challenges) {
    const { url, type, token = '' } = challenge;
    const answer = published.find((one) => one.url === url);
    if (answer && answer.value !== (await answerTo(client, { type, token }))) others.push(challenge);
  }
  return others;
}
