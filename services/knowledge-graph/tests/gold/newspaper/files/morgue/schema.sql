-- Tables of MorgueDB
create table issue (id bigint primary key, printed date not null);
create table page (id bigint primary key, issue_id bigint not null references issue (id), number int);
create table clipping (
  id bigint primary key,
  page_id bigint not null references page (id),
  body text
);
create view clipping_by_day as
  select i.printed, c.id from clipping c join page p on p.id = c.page_id join issue i on i.id = p.issue_id;
