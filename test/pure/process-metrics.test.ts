import { expect, test } from 'vitest';
import { ProcessMetrics } from '../../src/monitoring/process-metrics.ts';

const metric = (type: string, name: string, value: number | null) => ({
  ...{ type, name, help: name, aggregator: 'sum' },
  values: [{ labels: {}, value }],
});
const counter = (value: number) => metric('counter', 'visits_total', value);
const gauge = (value: number | null) => metric('gauge', 'open', value);

function processes() {
  let now = 0;
  const metrics = new ProcessMetrics<object>(
    (name) => name === 'control',
    () => now,
  );
  const values = async () => {
    const text = await metrics.text([]);
    const value = (name: string) => new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
    return [value('visits_total'), value('open')];
  };
  return {
    metrics,
    values,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test('what processes that have ended counted stays in the sums, once, and what they were like goes', async () => {
  const { metrics, values } = processes();
  const [first, second] = [{}, {}];
  metrics.told(first, 'worker 1', [counter(5), gauge(2)]);
  metrics.told(second, 'worker 2', [counter(3), gauge(1)]);
  expect(await values()).toEqual(['8', '3']);
  metrics.told(first, 'worker 1', [counter(6)], true);
  expect(await values()).toEqual(['9', '3']);
  for (const _ of ['exit', 'disconnect']) metrics.ended(first);
  expect(await values()).toEqual(['9', '1']);
  const third = {};
  metrics.told(third, 'worker 1', [counter(1), gauge(4)]);
  expect(await values()).toEqual(['10', '5']);
  metrics.ended(third);
  metrics.ended(second);
  expect(await values()).toEqual(['10', undefined]);
});

test('while the control process is away, what it was like is shown, with its age', async () => {
  const { metrics, values, pass } = processes();
  const control = {};
  metrics.told(control, 'control', [counter(5), gauge(7)]);
  pass(1000);
  metrics.ended(control);
  pass(1000);
  expect(await values()).toEqual(['5', '7']);
  expect(metrics.ages(2000)).toEqual([[{ process: 'control' }, 2]]);
  metrics.told({}, 'control', [counter(1), gauge(2)]);
  expect(await values()).toEqual(['6', '2']);
  expect(metrics.ages(2000)).toEqual([[{ process: 'control' }, 0]]);
});

test('of two processes of one name, as in an upgrade, the older values are told', () => {
  const { metrics, pass } = processes();
  metrics.told({}, 'worker 1', [gauge(1)]);
  pass(3000);
  metrics.told({}, 'worker 1', [gauge(1)]);
  expect(metrics.ages(3000)).toEqual([[{ process: 'worker-1' }, 3]]);
});

test('a value that JSON cannot have is none', async () => {
  const { metrics, values } = processes();
  metrics.told({}, 'control', [gauge(null)]);
  expect(await values()).toEqual([undefined, 'Nan']);
});
