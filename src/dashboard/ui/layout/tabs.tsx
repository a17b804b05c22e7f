import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

export interface Tab {
  title: string;
  href: string;
}

/** Places beside each other, each with its own address. */
export function Tabs({ tabs, label }: { tabs: readonly Tab[]; label: string }) {
  const { path } = useLocation();
  const strip = useRef<HTMLElement>(null);

  // On narrow screens they don't all fit. Not by scrollIntoView(), which may scroll the page, too.
  useLayoutEffect(() => {
    const current = strip.current?.querySelector('[aria-current]');
    if (!strip.current || !current) return;
    const stripBox = strip.current.getBoundingClientRect();
    const tab = current.getBoundingClientRect();
    strip.current.scrollLeft += (tab.left + tab.right - stripBox.left - stripBox.right) / 2;
  }, [path]);

  return (
    <nav ref={strip} class="tabs" aria-label={label}>
      {tabs.map(({ title, href }) => (
        <a key={href} href={href} aria-current={path === href ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
