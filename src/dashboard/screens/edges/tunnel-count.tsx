import { Tag } from '../../ui/tag.tsx';

/** How many live tunnels there are; none is worth a look. */
export function TunnelCount({ count }: { count: number }) {
  return (
    <Tag look={count === 0 ? 'warn' : 'plain'}>
      {count === 0 ? 'no tunnel' : count === 1 ? '1 tunnel' : `${count} tunnels`}
    </Tag>
  );
}
