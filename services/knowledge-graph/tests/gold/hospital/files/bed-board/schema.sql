-- BedDB: the schema of the Bed Board

create table ward (id int primary key, name text not null);
create table bed (
  id int primary key,
  ward_id int not null references ward(id)
);
create table stay (
  id bigint primary key,
  bed_id int references bed(id),
  patient_number text not null
);
create view free_bed as
  select b.id, w.name from bed b join ward w on w.id = b.ward_id
  where not exists (select 1 from stay s where s.bed_id = b.id);
