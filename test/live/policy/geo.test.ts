// Where visitors are, by a database that the operator has named.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { action } from '../../policy/documents/support.ts';
import { startTestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';
import { mmdbOf } from '../../support/mmdb.ts';
import { type PolicyLab, startPolicyLab } from './lab.ts';

const HOST = 'geo.tunnel.localhost';

let place: Place;
let lab: PolicyLab;
beforeAll(async () => {
  place = await newPlace();
  const file = join(place.dataDir, 'places.mmdb');
  const countryOf = (iso_code: string) => ({ country: { iso_code } });
  await writeFile(file, mmdbOf('Test-Country', { '127.0.0.0/8': countryOf('LO'), '198.51.100.0/24': countryOf('DE') }));
  lab = await startPolicyLab(await startTestGateway({ GEO_DATABASE: file }, { place }));
});
afterAll(async () => {
  await lab?.close();
  await lab?.gateway.close();
  await place?.remove();
});

test('a policy knows the country of a visitor, and of one in a trial run', async () => {
  const policy = {
    on_http_request: [{ actions: [action('add-headers', { headers: { 'x-country': '${conn.geo.country_code}' } })] }],
  };
  await lab.tunnel('https', HOST, policy);
  expect(await lab.visit(`https://${HOST}/`)).toMatchObject({ status: 200 });
  expect(lab.upstream.asked[0]?.headers['x-country']).toBe('LO');
  const { body } = await lab.account.graphql(
    `query ($policy: String!) { evaluatePolicy(policy: $policy, request: { url: "https://${HOST}/", clientIp: "198.51.100.7" }) {
      outcome { request { headers { name value } } } } }`,
    { policy: JSON.stringify(policy) },
  );
  expect(body.data.evaluatePolicy.outcome.request.headers).toContainEqual({ name: 'x-country', value: 'DE' });
});
