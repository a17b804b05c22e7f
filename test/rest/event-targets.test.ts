// Targets of event destinations beyond what the table of operations shows.

import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, sharedGateway } from '../support/gateway/gateway.ts';

let account: Account;
beforeAll(async () => {
  account = await (await sharedGateway()).newAccount();
});

const create = (target: object) => account.call('POST', '/event_destinations', { target });

test.each([
  ['https://app.datadoghq.eu/', 'datadoghq.eu'],
  ['app.us5.datadoghq.com', 'us5.datadoghq.com'],
  ['https://us3.datadoghq.com', 'us3.datadoghq.com'],
  ['ddog-gov.com/', 'ddog-gov.com'],
  ['', 'datadoghq.com'],
])('the site of Datadog can be given as its page has it: %s', async (ddsite, shown) => {
  const { status, body } = await create({ datadog: { api_key: 'secret', ddsite } });
  expect({ status, ddsite: body.target?.datadog.ddsite }).toEqual({ status: 201, ddsite: shown });
});

describe('where the operator allows nothing', () => {
  test.each([
    [
      { webhook: { url: 'https://hooks.example.com/', signing_secret: 'not-shorter-than-16-bytes' } },
      'ERR_GATEWAY_90071',
    ],
    [{ file: { name: 'events.jsonl' } }, 'ERR_GATEWAY_90073'],
  ])('%j is refused', async (target, code) => {
    expect(await create(target)).toMatchObject({ status: 400, body: { error_code: code } });
  });
});

test('what GraphQL shows of a target is taken as it is', async () => {
  const { body } = await create({ datadog: { api_key: 'secret', service: 'gateway' } });
  const members = 'firehose { deliveryStreamArn } kinesis { streamArn } webhook { url } file { name }';
  const { body: shown } = await account.graphql(
    `query ($id: ID!) { eventDestination(id: $id) { target {
      __typename ${members} datadog { apiKey ddtags service ddsite }
    } } }`,
    { id: body.id },
  );
  const { __typename, ...target } = shown.data.eventDestination.target;
  expect(__typename).toBe('SpecifiedEventTarget');
  const { body: changed } = await account.graphql(
    'mutation ($id: ID!, $input: UpdateEventDestinationInput!) { updateEventDestination(id: $id, input: $input) { eventDestination { id } } }',
    { id: body.id, input: { target } },
  );
  expect(changed).toEqual({ data: { updateEventDestination: { eventDestination: { id: body.id } } } });
});
