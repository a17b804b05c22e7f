// A gateway that stops stores what it has counted last, and after the next start the figures are as they were.

import { expect, onTestFinished, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { httpName, sdkSession } from '../../support/agents/sdk.ts';
import { startTestGateway } from '../../support/gateway/gateway.ts';
import { newPlace } from '../../support/gateway/place.ts';
import { visit } from '../../support/visit.ts';
import { newName } from '../edges/support.ts';
import { clock, startService } from './lab.ts';

const QUERY = '{ trafficHistory { total { requests responses { success serverError } } } }';

test('figures outlive a restart, those of the last seconds among them', async () => {
  const place = await newPlace();
  onTestFinished(() => place.remove());
  const gateway = await startTestGateway({}, { place, now: clock.now });
  const url = await startService((request, response) => void response.writeHead(Number(request.url?.slice(1))).end());
  const name = newName('restart');
  const { authtoken } = await newCredential(gateway);
  const session = await sdkSession(gateway, authtoken);
  await httpName(session, name).listenAndForward(url);
  for (const status of [200, 200, 500]) await visit(`http://${name}/${status}`, gateway.http);
  await session.close();
  await gateway.close();

  const again = await startTestGateway({}, { place, now: clock.now });
  onTestFinished(() => again.close());
  const { body } = await again.graphql(QUERY);
  expect(body.data.trafficHistory.total).toEqual({ requests: 3, responses: { success: 2, serverError: 1 } });
});
