// From where a certificate of Amazon SNS is fetched, and from where never.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyWebhook } from '../../../src/policy/webhooks/verify.ts';
import {
  CERTIFICATE,
  CERTIFICATE_URL,
  type CertificateHost,
  type Fields,
  HOST,
  newSigner,
  notification,
  refusal,
  type SignedBy,
  sent,
  startCertificateHost,
  worldOf,
} from './sns-sender.ts';

let signer: SignedBy;
let host: CertificateHost;
beforeAll(async () => {
  signer = await newSigner();
  host = await startCertificateHost(signer.pem);
});
afterAll(() => host.close());
beforeEach(() => {
  host.asked.length = 0;
});

const verified = (body: Fields) => verifyWebhook('sns', '', sent(body), worldOf(host));

describe('a certificate is fetched from hosts of Amazon SNS alone:', () => {
  test.each([
    CERTIFICATE_URL,
    `https://sns.eu-west-1.amazonaws.com${CERTIFICATE}`,
    `https://sns.cn-north-1.amazonaws.com.cn${CERTIFICATE}`,
    `https://${HOST}/some/other.pem`,
  ])('%s is', async (url) => {
    expect(await verified(signer.sign(notification(), '2', url))).toEqual({ verified: true });
    expect(host.asked).toEqual([url]);
  });

  test.each([
    `http://${HOST}${CERTIFICATE}`,
    `https://${HOST}.evil.example${CERTIFICATE}`,
    `https://evil.example${CERTIFICATE}`,
    `https://evil.example/${HOST}${CERTIFICATE}`,
    `https://evil-${HOST}${CERTIFICATE}`,
    `https://evil.${HOST}${CERTIFICATE}`,
    `https://sns.us-east-1.amazonaws.com.cn.evil.example${CERTIFICATE}`,
    `https://sns.us-east-1.amazonaws.com.de${CERTIFICATE}`,
    `https://sns.us-east-1xamazonaws.com${CERTIFICATE}`,
    `https://sns.s3-us-west-2.amazonaws.com${CERTIFICATE}`,
    `https://sns.s3.amazonaws.com${CERTIFICATE}`,
    `https://sns.amazonaws.com${CERTIFICATE}`,
    `https://sqs.us-east-1.amazonaws.com${CERTIFICATE}`,
    `https://user@${HOST}${CERTIFICATE}`,
    `https://${HOST}@evil.example${CERTIFICATE}`,
    `https://${HOST}\\@evil.example${CERTIFICATE}`,
    `https://evil.example#@${HOST}${CERTIFICATE}`,
    `https://${HOST}:8443${CERTIFICATE}`,
    `https://${HOST}./${CERTIFICATE}`,
    `https://${HOST}/`,
    `https://${HOST}/certificate.pem.txt`,
    `https://${HOST}/?Action=a${CERTIFICATE}`,
    `https://${HOST}${CERTIFICATE}?a=b.pem`,
    `https://${HOST}${CERTIFICATE}#.pem`,
    `https://${HOST}/../a.pem`,
    `https://${HOST}/%2e%2e/a.pem`,
    `https://${HOST}${CERTIFICATE}\n`,
    ` ${CERTIFICATE_URL}`,
    'https://127.0.0.1/a.pem',
    'https://[::1]/a.pem',
    `//${HOST}${CERTIFICATE}`,
    'file:///a.pem',
  ])('%j is not', async (url) => {
    const lookedUp = host.lookedUp.length;
    expect(await verified(signer.sign(notification(), '2', url))).toEqual(refusal(/^SigningCertURL does not lead/));
    expect([host.asked, host.lookedUp.length]).toEqual([[], lookedUp]);
  });
});
